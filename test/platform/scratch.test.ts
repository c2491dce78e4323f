import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Piece, Scratch } from '../../platform/scratch.ts';

const MB = 1024 * 1024;

/** Bytes that tell whose they are. */
const bytes = (length: number, value: number): Buffer => Buffer.alloc(length, value);

it('holds what was added to each piece, in whatever order pieces are begun, written and ended', () => {
  const step = fc.record({ piece: fc.nat(3), length: fc.nat(3 * MB), ends: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const scratch = new Scratch();
      const open = new Map<number, { piece: Piece; wanted: Buffer[] }>();
      const ended: { piece: Piece; wanted: Buffer[] }[] = [];
      for (const [n, { piece: which, length, ends }] of steps.entries()) {
        const known = open.get(which) ?? { piece: scratch.begin(), wanted: [] };
        open.set(which, known);
        const more = bytes(length, n + 1);
        known.piece.add(more);
        known.wanted.push(more);
        if (!ends) continue;
        known.piece.end();
        ended.push(known);
        open.delete(which);
      }
      for (const { piece, wanted } of [...open.values(), ...ended]) {
        expect(piece.bytes.equals(Buffer.concat(wanted))).toBe(true);
      }
      for (const { piece } of open.values()) piece.end();
      scratch.release();
    }),
    { numRuns: 10 },
  );
});

it('gives the same memory to who comes next, once it is released', () => {
  const first = new Scratch();
  const piece = first.begin();
  piece.add(bytes(MB, 1));
  piece.end();
  const { buffer } = piece.bytes;
  first.release();
  const second = new Scratch();
  const next = second.begin();
  next.add(bytes(MB, 2));
  next.end();
  expect(next.bytes.buffer).toBe(buffer);
  second.release();
});

it('keeps memory from others in which a piece is still written', () => {
  const failed = new Scratch();
  const late = failed.begin();
  late.add(bytes(MB, 1));
  failed.release();
  const other = new Scratch();
  const piece = other.begin();
  piece.add(bytes(MB, 2));
  late.add(bytes(MB, 3));
  late.end();
  piece.end();
  expect(piece.bytes.equals(bytes(MB, 2))).toBe(true);
  other.release();
});
