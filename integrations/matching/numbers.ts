/** A list of whole numbers from 0 that grows; four bytes each. */
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

  /** What was pushed, without a copy. */
  items(): Uint32Array {
    return this.#items.subarray(0, this.length);
  }
}

/** Lists of numbers, one for each row: those of row `r` are `items[starts[r] .. starts[r + 1])`. */
export interface Rows {
  starts: Uint32Array;
  items: Uint32Array;
}

/** How many rows there are. */
export const countOf = (rows: { starts: Uint32Array }): number => rows.starts.length - 1;

/** Rows made one after the other; `fill` pushes the items of one. */
export function rowsOf(count: number, fill: (row: number, items: Numbers) => void): Rows {
  const starts = new Uint32Array(count + 1);
  const items = new Numbers();
  for (let row = 0; row < count; row++) {
    fill(row, items);
    starts[row + 1] = items.length;
  }
  return { starts, items: items.items() };
}
