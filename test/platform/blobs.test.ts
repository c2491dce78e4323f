import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createDiskBlobStore } from '../../platform/blobs.ts';

const KEY = '0190a000-0000-7000-8000-0000000000ab';
const CHUNK = 64 * 1024;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'estate-blobs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const filesIn = async () =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

const ofBytes = (chunks: number) =>
  Buffer.concat(Array.from({ length: chunks }, (_, n) => Buffer.alloc(CHUNK, n % 251)));

it('keeps what many small and large chunks are, and tells their size and hash', async () => {
  const blobs = createDiskBlobStore(folder);
  const parts = Array.from({ length: 3000 }, (_, n) => Buffer.alloc(n % 7 === 0 ? CHUNK : n % 97, n % 251));
  const whole = Buffer.concat(parts);
  const info = await blobs.put(KEY, Readable.from(parts, { objectMode: false }));
  expect(info).toEqual({ size: whole.length, sha256: createHash('sha256').update(whole).digest('hex') });
  expect((await buffer(await blobs.get(KEY))).equals(whole)).toBe(true);
  expect(
    (await buffer(await blobs.get(KEY, { start: 5, end: CHUNK }))).equals(whole.subarray(5, CHUNK + 1)),
  ).toBe(true);
  await blobs.put(KEY, Readable.from([Buffer.from('another')]));
  expect(String(await buffer(await blobs.get(KEY)))).toBe('another');
  await blobs.put(KEY, Readable.from([], { objectMode: false }));
  expect(await buffer(await blobs.get(KEY))).toHaveLength(0);
});

it('leaves nothing of what fails on the way, and what was there as it was', async () => {
  const blobs = createDiskBlobStore(folder);
  await blobs.put(KEY, Readable.from([Buffer.from('kept')]));
  async function* cut() {
    yield ofBytes(20);
    throw new Error('the source is gone');
  }
  await expect(blobs.put(KEY, Readable.from(cut()))).rejects.toThrow('the source is gone');
  const out = new PassThrough();
  await Promise.all([
    expect(pipeline(cut(), out)).rejects.toThrow('the source is gone'),
    expect(blobs.put(KEY, out)).rejects.toThrow('the source is gone'),
  ]);
  expect(String(await buffer(await blobs.get(KEY)))).toBe('kept');
  expect(await filesIn()).toHaveLength(1);
});

it('fails when the disk does', async () => {
  vi.spyOn(fs, 'fsync').mockImplementation((_fd, done) => done(new Error('the disk is broken')));
  const blobs = createDiskBlobStore(folder);
  await expect(blobs.put(KEY, Readable.from([ofBytes(150), ofBytes(150)]))).rejects.toThrow(
    'the disk is broken',
  );
  vi.restoreAllMocks();
  expect(await filesIn()).toEqual([]);
});

it('fails where nothing can be written', async () => {
  const file = path.join(folder, 'file');
  await writeFile(file, '');
  const blobs = createDiskBlobStore(file);
  await expect(blobs.put(KEY, Readable.from([Buffer.from('x')]))).rejects.toThrow(/ENOTDIR/);
});
