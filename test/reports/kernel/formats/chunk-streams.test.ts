import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { startStream, streamPace, writeChunks } from '../../../../reports/kernel/formats/chunk-streams.ts';

const usual = { ...streamPace };
afterEach(() => Object.assign(streamPace, usual));

const chunk = Buffer.alloc(64 * 1024);
const chunks = (count: number) => Readable.from(Array.from({ length: count }, () => chunk));
const start = async (userId: string, count: number, ended: () => void = () => {}) =>
  await startStream<Readable>({ userId }, async (out, begin) => {
    begin(out);
    await writeChunks(chunks(count), out, undefined).finally(ended);
  });

it('ends a stream whose client stops reading, and not one that is read', async () => {
  Object.assign(streamPace, { periodMs: 50 });
  const ended = Promise.withResolvers<void>();
  const stalled = await start('reader', 100, ended.resolve);
  const failed = new Promise((resolve) => stalled.once('error', resolve));
  await ended.promise;
  expect(await failed).toMatchObject({ code: 'unavailable' });
  let bytes = 0;
  for await (const part of await start('reader', 40)) {
    bytes += (part as Buffer).length;
    await delay(5);
  }
  expect(bytes).toBe(40 * chunk.length);
});

it('gives the streams of one user only a part of those that run at once', async () => {
  const open = await Promise.all(Array.from({ length: 4 }, () => start('many', 100)));
  const waiting = start('many', 1);
  expect((await (await start('other', 1)).toArray()).length).toBe(1);
  expect(await Promise.race([waiting.then(() => 'started'), delay(20, 'waits')])).toBe('waits');
  const more = Array.from({ length: 15 }, () => start('many', 1));
  await expect(start('many', 1)).rejects.toMatchObject({ code: 'too_many_requests' });
  for (const stream of open) stream.once('error', () => {}).destroy();
  for (const stream of [waiting, ...more]) await (await stream).toArray();
});
