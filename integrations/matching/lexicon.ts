import type { Rows } from './numbers.ts';

/** Numbers for terms, from 0, in the order in which they are first seen. */
export class Lexicon {
  readonly #numbers = new Map<string, number>();

  numberOf(term: string): number {
    const known = this.#numbers.get(term);
    if (known !== undefined) return known;
    this.#numbers.set(term, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /**
   * The terms in the order of their characters. The numbers in `rows` are changed to places in that list, so that nothing that
   * is computed from them depends on which term was seen first.
   */
  settle(rows: Iterable<Rows>): string[] {
    const terms = [...this.#numbers.keys()].sort();
    const places = new Uint32Array(terms.length);
    for (const [place, term] of terms.entries()) places[this.#numbers.get(term)!] = place;
    for (const { items } of rows) for (let at = 0; at < items.length; at++) items[at] = places[items[at]!]!;
    return terms;
  }
}
