import { fold } from '../../../platform/fold.ts';
import { plainWords } from './names.ts';
import { memoized } from './normalise.ts';
import { wordsIn } from './tokens.ts';

/** Maximum words of a text that are compared with one term: a term has at most four, but compounds are also written in parts. */
const MOST_WORDS = 8;
/** A word of a text as written; `&` is the word `and`. */
const WORD = /&|[\p{L}\p{M}\p{N}]+(?:['’ʼ`´][\p{L}\p{M}\p{N}]+)*/gu;

/** The letters of a word's normalised form; memoized, since names share words. */
const lettersOf = memoized((word) => plainWords(wordsIn(fold(word))).join(''), 50_000);

/** A group of equal terms. */
interface Group {
  /** As written; a text is compared as if it contained the first one. */
  terms: readonly string[];
  keys: readonly string[];
}

/** A term in a text, from its first to after its last character. */
interface Occurrence {
  from: number;
  end: number;
  group: Group;
}

/** Finds terms in texts. */
export class Synonyms {
  readonly #groups = new Map<string, Group>();

  /** @param groups equal words and phrases; groups with a common term are one. */
  constructor(groups: readonly (readonly string[])[]) {
    for (const terms of groups) {
      const keys = terms.map(keyOf).filter((key) => key !== '');
      const others = [...new Set(keys.flatMap((key) => this.#groups.get(key) ?? []))];
      const group = {
        terms: [...others.flatMap((other) => other.terms), ...terms],
        keys: [...others.flatMap((other) => other.keys), ...keys],
      };
      for (const key of group.keys) this.#groups.set(key, group);
    }
  }

  /** The text with the first term of its group in place of each term. */
  written(text: string): string {
    return this.#occurrencesIn(text).reduceRight(
      (written, { from, end, group }) => replaced(written, from, end, group.terms[0]!),
      text,
    );
  }

  /** The text, and the text with other terms of the same groups, up to `most` different texts. */
  spellingsOf(text: string, most: number): string[] {
    const spellings = new Set([text]);
    for (const { from, end, group } of this.#occurrencesIn(text).reverse())
      for (const spelling of [...spellings])
        for (const term of group.terms) {
          if (spellings.size >= most) return [...spellings];
          // the terms before this one are not replaced yet
          spellings.add(replaced(spelling, from, end, term));
        }
    return [...spellings];
  }

  /** The terms of a text, the longest at each word. */
  #occurrencesIn(text: string): Occurrence[] {
    const found: Occurrence[] = [];
    if (this.#groups.size === 0) return found;
    const words = [...text.matchAll(WORD)];
    const letters = words.map(([word]) => lettersOf(word));
    for (let at = 0; at < words.length; ) {
      let [key, last] = ['', at];
      let group: Group | undefined;
      for (let next = at; next < words.length && next < at + MOST_WORDS; next++) {
        key += letters[next]!;
        const longer = this.#groups.get(key);
        if (longer) [group, last] = [longer, next];
      }
      if (group) {
        const { index, 0: word } = words[last]!;
        found.push({ from: words[at]!.index, end: index + word.length, group });
      }
      at = last + 1;
    }
    return found;
  }
}

const replaced = (text: string, from: number, end: number, term: string): string =>
  `${text.slice(0, from)}${term}${text.slice(end)}`;

const keyOf = (term: string): string => (term.match(WORD) ?? []).map(lettersOf).join('');
