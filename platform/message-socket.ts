import { Socket } from 'node:net';

/** Bytes that are read at once; more where one message is larger. */
const ROOM = 64 * 1024;
/** What goes before a message of PostgreSQL's protocol: its kind, and how long it is without that. */
const KIND = 1;
const HEAD = KIND + 4;

/** Where the last message ends that is whole. */
function endOfWhole(bytes: Buffer, filled: number): number {
  let at = 0;
  while (at + HEAD <= filled) {
    const next = at + KIND + bytes.readUInt32BE(at + KIND);
    if (next > filled) break;
    at = next;
  }
  return at;
}

/**
 * Memory for the message that begins in it, of which so many bytes are there: twice as much where it is full, since a length
 * that somebody else than PostgreSQL has sent is believed only as far as bytes come.
 */
function roomFor(bytes: Buffer, filled: number): Buffer {
  const room = filled === bytes.length ? 2 * filled : filled <= ROOM / 2 ? ROOM : bytes.length;
  if (room === bytes.length) return bytes;
  const other = Buffer.allocUnsafeSlow(room);
  bytes.copy(other, 0, 0, filled);
  return other;
}

/**
 * A socket for the driver that reads into the same memory again and again, and hands on whole messages, which the driver has
 * done with when it returns. By itself each reading takes memory of its own: what a large answer leaves behind made the
 * process larger the longer it was, and collecting it took a tenth of the time.
 */
export function messageSocket(): Socket {
  let memory: Buffer = Buffer.allocUnsafeSlow(ROOM);
  let filled = 0;
  const socket = new Socket({
    onread: {
      buffer: () => memory.subarray(filled),
      callback(bytes) {
        const end = filled + bytes;
        const whole = endOfWhole(memory, end);
        if (whole > 0) socket.emit('data', memory.subarray(0, whole));
        memory.copyWithin(0, whole, end);
        filled = end - whole;
        memory = roomFor(memory, filled);
        return true;
      },
    },
  });
  return socket;
}
