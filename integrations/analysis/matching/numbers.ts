import { release } from '../../../platform/release.ts';
/** A growing array of unsigned 32-bit integers. */
export class Numbers {
  #items = new Uint32Array(1_024);
  length = 0;

  push(item: number): void {
    if (this.length === this.#items.length) {
      const grown = new Uint32Array(this.#items.length * 2);
      grown.set(this.#items);
      this.#items = grown;
    }
    this.#items[this.length++] = item;
  }

  /** The pushed numbers, without copying. */
  items(): Uint32Array {
    return this.#items.subarray(0, this.length);
  }
}

/** One list of numbers per row: those of row `r` are `items[starts[r] .. starts[r + 1])`. */
export interface Rows {
  starts: Uint32Array;
  items: Uint32Array;
}

/** Rows whose items are made when they are read, since they are larger than what they are made from. */
export interface RowSource {
  count: number;
  /** Pushes the items of a row. */
  fill(row: number, items: Numbers): void;
}

/** Reads stored rows. */
export const sourceOf = (rows: Rows): RowSource => ({
  count: countOf(rows),
  fill(row, items) {
    for (let at = rows.starts[row]!; at < rows.starts[row + 1]!; at++) items.push(rows.items[at]!);
  },
});

/** Number of rows. */
export const countOf = (rows: { starts: Uint32Array }): number => rows.starts.length - 1;

/** Work that yields between its parts, so that the caller can do other work or cancel. */
export type Paused<T> = Generator<void, T>;

/** Runs all parts. */
export function finish<T>(steps: Generator<unknown, T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Rows between two yields. */
export const ROWS_PER_PAUSE = 2_000;

/** Builds rows; `fill` pushes the items of one row. */
export function* rowsOf(count: number, fill: (row: number, items: Numbers) => void): Paused<Rows> {
  const starts = new Uint32Array(count + 1);
  const items = new Numbers();
  for (let row = 0; row < count; row++) {
    if (row % ROWS_PER_PAUSE === 0) yield;
    fill(row, items);
    starts[row + 1] = items.length;
  }
  const exact = items.items().slice();
  release(items.items());
  return { starts, items: exact };
}

/** Maps items, yielding between parts. */
export function* mapped<T, R>(items: readonly T[], make: (item: T) => R): Paused<R[]> {
  const made: R[] = [];
  for (const [at, item] of items.entries()) {
    if (at % ROWS_PER_PAUSE === 0) yield;
    made.push(make(item));
  }
  return made;
}
