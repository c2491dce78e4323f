import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Outflow } from '../../platform/outflow.ts';

const CHUNK = 64 * 1024;

/** Chunks that all stand in the same memory, each of another byte. */
async function* lent(memory: Buffer, chunks: number) {
  for (let n = 0; n < chunks; n += 1) {
    memory.fill(n % 256);
    yield memory;
  }
}

it('passes a chunk on before it wants the next, however slowly it is read', async () => {
  const chunks = 200;
  const server = createServer((_request, response) => {
    const out = new Outflow();
    void pipeline(lent(Buffer.alloc(CHUNK), chunks), out);
    out.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  let at = 0;
  for await (const bytes of answer.body!) {
    for (const byte of bytes) {
      if (byte !== Math.floor(at / CHUNK) % 256) throw new Error(`byte ${at} is ${byte}`);
      at += 1;
    }
    if (at % 7 === 0) await delay(1);
  }
  expect(at).toBe(chunks * CHUNK);
  server.close();
});

it('takes what is written before it is piped anywhere, and ends with it', async () => {
  const taken: string[] = [];
  const target = new Writable({
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      done();
    },
  });
  const out = new Outflow();
  const written = pipeline(['a', 'b', 'c'], out);
  await delay(5);
  out.pipe(target);
  await Promise.all([written, finished(out), finished(target)]);
  expect(taken).toEqual(['a', 'b', 'c']);
});

it('destroys what it is piped into where a chunk is on its way when it fails, and fails where that does', async () => {
  const stuck = new Writable({ write: () => undefined });
  const out = new Outflow();
  out.pipe(stuck);
  out.on('error', () => undefined);
  out.write('never passed on');
  out.destroy(new Error('the source is gone'));
  expect(stuck.destroyed).toBe(true);

  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no room')) });
  broken.on('error', () => undefined);
  const other = new Outflow();
  other.pipe(broken);
  await expect(pipeline(['a', 'b'], other)).rejects.toThrow('no room');
});
