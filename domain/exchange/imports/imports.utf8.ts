import { isUtf8 } from 'node:buffer';
import { type FieldError, invalidField } from '../../../platform/errors.ts';

/**
 * Replaces a byte that is not UTF-8. It begins with NUL, which no text may contain, so that such a text is always
 * refused and never stored with a replacement.
 */
const NOT_UTF8 = '\0\ufffd';
const replacement = Buffer.from('\ufffd');

/** Maximum number of bytes for each chunk: the consumer converts all of it to objects before it continues. */
const PIECE = 64 * 1024;

async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
  }
}

/**
 * The bytes of a text file without a byte order mark, in chunks of about 64 KiB that end between characters; bytes that
 * are not UTF-8 are marked for {@link findTextError}.
 * @throws EstateError `validation_failed` if the file is UTF-16.
 */
export async function* utf8Chunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  let hasStarted = false;
  for await (const bytes of inPieces(source)) {
    let chunk: Buffer =
      held.length > 0
        ? Buffer.concat([held, bytes])
        : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (!hasStarted) {
      if (chunk.length < 3) {
        held = Buffer.from(chunk);
        continue;
      }
      chunk = withoutMark(chunk);
      hasStarted = true;
    }
    const whole = chunk.length - incompleteEnd(chunk);
    held = Buffer.from(chunk.subarray(whole));
    if (whole > 0) yield marked(chunk.subarray(0, whole));
  }
  if (!hasStarted) held = withoutMark(held);
  if (held.length > 0) yield marked(held);
}

function withoutMark(head: Buffer): Buffer {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    throw invalidField('file', 'bad_encoding', 'The file is UTF-16; it has to be saved as UTF-8.');
  }
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? head.subarray(3) : head;
}

/** Number of bytes at the end that belong to a character which continues in the next chunk. */
function incompleteEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function marked(bytes: Buffer): Buffer {
  if (isUtf8(bytes)) return bytes;
  const parts: string[] = [];
  // A replacement character in the file itself is no error.
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(replacement, from);
    const to = found < 0 ? bytes.length : found;
    parts.push(bytes.toString('utf8', from, to).replaceAll('\ufffd', NOT_UTF8));
    from = found < 0 ? bytes.length + 1 : found + replacement.length;
  }
  return Buffer.from(parts.join('\ufffd'));
}

/** The error of a text that PostgreSQL cannot store, or whose bytes were not UTF-8; undefined if it is valid. */
export function findTextError(field: string, text: string): FieldError | undefined {
  if (text.includes(NOT_UTF8)) {
    return { field, code: 'bad_encoding', message: 'contains bytes that are not UTF-8' };
  }
  if (text.includes('\0') || !text.isWellFormed()) {
    return { field, code: 'bad_text', message: 'contains a NUL or an incomplete character' };
  }
  return undefined;
}
