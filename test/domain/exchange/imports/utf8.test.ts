import { describe, expect, it } from 'vitest';
import { utf8Chunks } from '../../../../domain/exchange/imports/imports.utf8.ts';
import { inPieces } from './read.support.ts';

const PIECE = 64 * 1024;

async function chunksOf(content: Buffer, size: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of utf8Chunks(inPieces(content, size))) chunks.push(chunk);
  return chunks;
}

describe('a long file', () => {
  // characters of one to four bytes, so that pieces end inside each of them somewhere
  const content = Buffer.from('aé€😀b'.repeat(40_000));

  it.each([1024 * 1024, PIECE, 1000])('is handed on in pieces, coming %i bytes at once', async (size) => {
    const chunks = await chunksOf(content, size);
    // what a piece lacks of its last character comes with the next
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(PIECE + 3);
    expect(chunks.every((chunk) => !chunk.toString('utf8').includes('\ufffd'))).toBe(true);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
  });
});
