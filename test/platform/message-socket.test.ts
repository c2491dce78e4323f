import { randomInt } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { messageSocket } from '../../platform/message-socket.ts';

const message = (length: number, byte: number): Buffer => {
  const bytes = Buffer.alloc(5 + length, byte);
  bytes.write('d', 0, 'latin1');
  bytes.writeUInt32BE(4 + length, 1);
  return bytes;
};

/** Messages that somebody has sent in pieces, as a socket hands them on. */
async function received(send: (to: Socket) => Promise<void>): Promise<Buffer[]> {
  const server = createServer((to) => void send(to).then(() => to.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = messageSocket();
  const messages: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => {
    let at = 0;
    while (at < bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      expect(end).toBeLessThanOrEqual(bytes.length);
      // as the driver does: what is needed is taken at once
      messages.push(Buffer.from(bytes.subarray(at, end)));
      at = end;
    }
    // a reader that cannot follow
    if (randomInt(20) === 0) {
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    }
  });
  const ended = new Promise((resolve) => socket.on('close', resolve));
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1');
  await ended;
  server.close();
  return messages;
}

const pause = () => new Promise((resolve) => setImmediate(resolve));

it('hands on whole messages alone, in whatever pieces they come and however large they are', async () => {
  const lengths = [0, 1, 3, 65_530, 65_531, 65_532, 200_000, 5, 1_000_000, 2, 0, 131_000];
  for (let n = 0; n < 300; n += 1) lengths.push(randomInt(n % 17 === 0 ? 300_000 : 900));
  const sent = lengths.map((length, n) => message(length, n % 251));
  const all = Buffer.concat(sent);
  const messages = await received(async (to) => {
    for (let from = 0; from < all.length; ) {
      const next = from + 1 + randomInt(from % 3 === 0 ? 7 : 90_000);
      to.write(all.subarray(from, next));
      from = next;
      await pause();
    }
  });
  expect(messages.length).toBe(sent.length);
  for (const [n, one] of messages.entries()) expect(one.equals(sent[n]!), `message ${n}`).toBe(true);
});
