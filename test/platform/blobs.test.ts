import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDiskBlobStore, FileSink } from '../../platform/blobs.ts';

const KEY = '0190a000-0000-7000-8000-0000000000ab';
const CHUNK = 64 * 1024;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'estate-blobs-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

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

describe('while what is written goes to the disk', () => {
  const flush = fs.fdatasync;
  /** Has flushing take a while, and answer what is given. */
  const flushing = (error: Error | null) => {
    const asked = vi.spyOn(fs, 'fdatasync').mockImplementation((fd, done) => {
      flush(fd, () => setTimeout(() => done(error as NodeJS.ErrnoException | null), 50));
    });
    syncBuiltinESMExports();
    return asked;
  };
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  it('goes on, and has finished when all is there', async () => {
    const asked = flushing(null);
    const blobs = createDiskBlobStore(folder);
    const { size } = await blobs.put(KEY, Readable.from([ofBytes(200), ofBytes(200), ofBytes(200)]));
    expect(size).toBe(600 * CHUNK);
    expect(asked).toHaveBeenCalled();
  });

  it('fails with the disk, which tells of a fault but once', async () => {
    flushing(new Error('the disk is broken'));
    const blobs = createDiskBlobStore(folder);
    await expect(blobs.put(KEY, Readable.from([ofBytes(150), ofBytes(150), ofBytes(150)]))).rejects.toThrow(
      'the disk is broken',
    );
    expect(await filesIn()).toEqual([]);
  });

  it('leaves nothing of what fails meanwhile', async () => {
    const blobs = createDiskBlobStore(folder);
    async function* cut() {
      yield ofBytes(150);
      yield ofBytes(150);
      yield ofBytes(150);
      throw new Error('the source is gone');
    }
    const asked = flushing(null);
    await expect(blobs.put(KEY, Readable.from(cut()))).rejects.toThrow('the source is gone');
    expect(asked).toHaveBeenCalled();
    expect(await filesIn()).toEqual([]);
  });
});

it('fails where nothing can be written, and so does what is written to it', async () => {
  const file = path.join(folder, 'file');
  await writeFile(file, '');
  const blobs = createDiskBlobStore(file);
  await expect(blobs.put(KEY, Readable.from([Buffer.from('x')]))).rejects.toThrow(/ENOTDIR/);
  // a device that is always full
  const out = new PassThrough();
  const stored = pipeline(out, new FileSink('/dev/full'));
  const outcomes = await Promise.allSettled([
    stored,
    pipeline(
      Array.from({ length: 64 }, () => ofBytes(1)),
      out,
    ),
  ]);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ENOSPC' } });
});
