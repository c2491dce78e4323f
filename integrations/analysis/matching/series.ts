import { Numbers } from './numbers.ts';
import vocabulary from './vocabulary.json' with { type: 'json' };
import { isDistinctive, listed } from './vocabulary.ts';

/** Minimum number of different words in one position of otherwise equal names for a series. */
const LEAST_IN_ROW = 3;
/** Minimum number of series of a distinguishing word. */
const LEAST_ROWS = 2;
/** Maximum words of a name. */
const MOST_WORDS = 12;
/** Words for forms of objects: names that only differ in these can denote the same object. */
const FORMS = new Set(listed(vocabulary.productForms));

/**
 * Finds words that vary in series of names, such as sites and departments: in at least two series of otherwise equal names, each
 * with at least two other words. Repeated differences are intentional.
 */
export class SeriesFinder {
  readonly #numbers = new Map<string, number>();
  readonly #starts = new Numbers();
  readonly #items = new Numbers();

  /** Adds the words of a name. */
  add(name: readonly string[]): void {
    this.#starts.push(this.#items.length);
    for (const word of [...new Set(name)].slice(0, MOST_WORDS)) {
      if (!this.#numbers.has(word)) this.#numbers.set(word, this.#numbers.size);
      this.#items.push(this.#numbers.get(word)!);
    }
  }

  found(): string[] {
    const words = [...this.#numbers.keys()];
    const isVarying = words.map((word) => isDistinctive(word) && !FORMS.has(word) && /\p{L}{2}/u.test(word));
    // most frames are in one name: only those whose hash is frequent are kept
    const counts = new Uint8Array(1 << Math.max(10, 1 + Math.ceil(Math.log2(this.#items.length + 1))));
    const placeOf = (others: Uint32Array) => hashOf(others) & (counts.length - 1);
    this.#eachFrame(isVarying, (_, others) => {
      const place = placeOf(others);
      if (counts[place]! < LEAST_IN_ROW) counts[place]!++;
    });
    const rows = new Map<string, Set<number>>();
    this.#eachFrame(isVarying, (word, others) => {
      if (counts[placeOf(others)]! < LEAST_IN_ROW) return;
      const frame = others.join(' ');
      const row = rows.get(frame);
      if (row) row.add(word);
      else rows.set(frame, new Set([word]));
    });
    const series = new Map<number, number>();
    for (const row of rows.values())
      if (row.size >= LEAST_IN_ROW) for (const word of row) series.set(word, (series.get(word) ?? 0) + 1);
    return [...series.keys()]
      .filter((word) => series.get(word)! >= LEAST_ROWS)
      .map((word) => words[word]!)
      .sort();
  }

  /** Each varying word of each name, with the other words of the name in any fixed order. */
  #eachFrame(isVarying: readonly boolean[], see: (word: number, others: Uint32Array) => void): void {
    const items = this.#items.items();
    for (const [at, from] of this.#starts.items().entries()) {
      const name = items.subarray(from, this.#starts.items()[at + 1] ?? items.length);
      if (name.length < 2) continue;
      for (const word of name) if (isVarying[word]) see(word, name.filter((other) => other !== word).sort());
    }
  }
}

/** A hash of 32 bits (FNV-1a). */
const hashOf = (numbers: Uint32Array): number =>
  numbers.reduce((hash, number) => Math.imul(hash ^ number, 16_777_619), 2_166_136_261 | 0) >>> 0;

/**
 * 0 if two names only differ in series words, each with one that the other does not have; else NaN (no evidence).
 */
export function seriesSimilarity(
  a: readonly string[],
  b: readonly string[],
  series: ReadonlySet<string>,
): number {
  const left = a.filter((word) => !b.includes(word));
  const right = b.filter((word) => !a.includes(word));
  if (left.length === 0 || right.length === 0 || left.length === a.length) return Number.NaN;
  return [...left, ...right].every((word) => series.has(word)) ? 0 : Number.NaN;
}
