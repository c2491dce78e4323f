import type { NamedCard } from '../../../domain/inventory/cards/cards.similar.ts';
import type { MatchModel } from '../matching/matching.types.ts';
import { similarWords } from '../matching/misspellings.ts';
import { nameReader } from '../matching/names.ts';
import { ownWordsOf } from '../matching/own-words.ts';
import { lettersOf } from './warnings.ts';

/** The number of distinct words of a name that are compared. */
const MOST_WORDS = 8;
/** The number of names by one key; more of them have only general words in common. */
const MOST_PER_KEY = 100;
/** The number of names that are similar to one, those with the same words first: only a few of them become warnings. */
const MOST_SIMILAR = 40;

/** What is common to a name and another that lacks the word, or has another one for it; `word` is undefined for the whole name. */
interface NameKey {
  key: string;
  word?: string;
}

interface Entry<C> {
  card: C;
  word: string | undefined;
}

/**
 * Finds the names that have the same words or letters as another, lack a word of it, have one more, or have a misspelt or
 * abbreviated word. Others are no likely duplicates, and are not worth scoring.
 */
export class NameIndex<C extends NamedCard> {
  readonly #read: (name: string) => readonly string[];
  readonly #written: (name: string) => string;
  readonly #entries = new Map<string, Entry<C>[]>();

  /** @param model its dictionary and vocabulary determine which words are the same. */
  constructor(model: Pick<MatchModel, 'dictionary' | 'vocabulary'>, cards: readonly C[]) {
    const { synonyms } = ownWordsOf(model.vocabulary);
    this.#written = (name) => synonyms.written(name);
    this.#read = nameReader(model.dictionary);
    for (const card of cards) {
      for (const { key, word } of this.#keysOf(card.name)) {
        const entries = this.#entries.get(key);
        if (!entries) this.#entries.set(key, [{ card, word }]);
        else if (entries.length < MOST_PER_KEY) entries.push({ card, word });
      }
    }
  }

  /** The cards of the index whose names are similar to that of another card. */
  similarTo(other: NamedCard): Set<C> {
    const found = new Set<C>();
    for (const { key, word } of this.#keysOf(other.name)) {
      for (const { card, word: own } of this.#entries.get(key) ?? []) {
        if (card.id === other.id || found.has(card)) continue;
        if (own === undefined || word === undefined || own === word || similarWords(own, word, 1) > 0) {
          found.add(card);
          if (found.size === MOST_SIMILAR) return found;
        }
      }
    }
    return found;
  }

  #keysOf(given: string): NameKey[] {
    const name = this.#written(given);
    const words = [...new Set(this.#read(name))].slice(0, MOST_WORDS).sort();
    const keys: NameKey[] = [{ key: words.join(' ') }, { key: lettersOf(name) }];
    if (words.length > 1) {
      for (const [at, word] of words.entries()) keys.push({ key: words.toSpliced(at, 1).join(' '), word });
    } else if (words.length === 1) {
      // a wrong letter is in one half only
      const [word] = words as [string];
      const middle = word.length >> 1;
      keys.push({ key: `${word.slice(0, middle)}*`, word }, { key: `*${word.slice(-middle)}`, word });
    }
    return keys;
  }
}
