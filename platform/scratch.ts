import { collectSoon } from './heap.ts';

/** Bytes of a block. The system gives memory only for what has been written. */
const BLOCK = 16 * 1024 * 1024;
/** Blocks that are kept for whoever comes next, and for how long: 48 MB, what an answer on all cards is made from. */
const KEPT = { blocks: 3, ms: 10_000 };

const kept: Buffer[] = [];
let leaving: NodeJS.Timeout | undefined;

/** So many bytes of blocks may have been made since garbage was last collected for them. */
const MADE = 192 * 1024 * 1024;
let made = 0;

/**
 * Memory for long answers and what they are made from: many MB, thrown away soon.
 *
 * V8 takes the bytes of other buffers for a part of its heap, and looks through the whole of that whenever it has grown by a
 * part. It does not count memory that threads can share, so what is thrown away of it is counted here.
 */
export function uncounted(bytes: number): Buffer {
  made += bytes;
  if (made > MADE) {
    made = bytes;
    collectSoon();
  }
  return Buffer.from(new SharedArrayBuffer(bytes));
}

function takeBlock(bytes: number): Buffer {
  const block = bytes <= BLOCK ? kept.pop() : undefined;
  return block ?? uncounted(Math.max(bytes, BLOCK));
}

function keepBlock(block: Buffer): void {
  if (block.length > BLOCK || kept.length >= KEPT.blocks) return;
  kept.push(block);
  clearTimeout(leaving);
  leaving = setTimeout(() => kept.splice(0), KEPT.ms).unref();
}

/** Bytes that are gathered behind each other. */
export interface Piece {
  add(bytes: Buffer): void;
  /** Nothing more will be added. */
  end(): void;
  /** What was added. */
  readonly bytes: Buffer;
}

/**
 * Memory for what is read at once and used for a moment: tens of MB for an answer. New each time, they would make V8 look
 * through its whole heap again and again, which takes longer than the answer. What is there stays until `release`.
 */
export class Scratch {
  readonly #blocks: Buffer[] = [];
  /** Of the last block. */
  #used = 0;
  #open = 0;

  begin(): Piece {
    const scratch = this;
    scratch.#open += 1;
    let room = scratch.#take(0);
    let used = 0;
    return {
      add(bytes) {
        if (used + bytes.length > room.length) {
          const larger = scratch.#take(Math.max(used + bytes.length, 2 * used));
          room.copy(larger, 0, 0, used);
          room = larger;
        }
        used += bytes.copy(room, used);
      },
      end() {
        scratch.#open -= 1;
        // what is behind it is free again, unless another piece was begun meanwhile
        if (room.buffer === scratch.#blocks.at(-1)?.buffer) scratch.#used = room.byteOffset + used;
      },
      get bytes() {
        return room.subarray(0, used);
      },
    };
  }

  /** Nothing of it is looked at any more. */
  release(): void {
    const blocks = this.#blocks.splice(0);
    this.#used = 0;
    // where a piece is still written, since its reader has failed, all is left to the collector of garbage
    if (this.#open === 0) for (const block of blocks) keepBlock(block);
  }

  /** All that is left of a block, and at least so many bytes. */
  #take(bytes: number): Buffer {
    let block = this.#blocks.at(-1);
    if (!block || block.length - this.#used < bytes) {
      block = takeBlock(bytes);
      this.#blocks.push(block);
      this.#used = 0;
    }
    const room = block.subarray(this.#used);
    this.#used = block.length;
    return room;
  }
}
