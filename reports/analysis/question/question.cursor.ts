import { createLru } from '../../../platform/lru.ts';
import { normalised, type Word } from './question.words.ts';

/** Numbers as they are said. */
const NUMBERS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  twenty: 20,
};

/** A place in a question, from which words are taken. */
export class QuestionCursor {
  at = 0;
  readonly words: readonly Word[];
  readonly norms: readonly string[];
  /** YYYY-MM-DD. */
  readonly today: string;

  constructor(words: readonly Word[], today: string) {
    this.words = words;
    // what stands in quotes is no word of the question
    this.norms = words.map(({ kind, norm }) => (kind === 'quoted' ? '"' : norm));
    this.today = today;
  }

  get ended(): boolean {
    return this.at >= this.words.length;
  }

  /** Whether the phrase stands at the place, or so many words further on. */
  sees(phrase: string, further = 0): boolean {
    return partsOf(phrase).every((word, offset) => this.norms[this.at + further + offset] === word);
  }

  /** Takes the phrase if it stands here. */
  takePhrase(phrase: string): boolean {
    if (!this.sees(phrase)) return false;
    this.at += partsOf(phrase).length;
    return true;
  }

  /** Takes the first of the phrases that stands here. */
  takeAny(phrases: readonly string[]): boolean {
    return phrases.some((phrase) => this.takePhrase(phrase));
  }

  takeNumber(): number | undefined {
    const word = this.words[this.at];
    const number = word?.kind === 'number' ? Number(word.norm) : NUMBERS[word?.norm ?? ''];
    if (number !== undefined) this.at += 1;
    return number;
  }

  /** Whether a number stands here, in figures or in words. */
  get seesNumber(): boolean {
    const word = this.words[this.at];
    return word !== undefined && (word.kind === 'number' || NUMBERS[word.norm] !== undefined);
  }

  takeQuoted(): string | undefined {
    const word = this.words[this.at];
    if (word?.kind !== 'quoted') return undefined;
    this.at += 1;
    return word.norm;
  }

  /** The words from a place to here, as they were written. */
  textFrom(start: number): string {
    return this.words
      .slice(start, this.at)
      .map(({ text }) => text)
      .join(' ');
  }
}

/** Names of types, fields and tags, split into words. */
const split = createLru<string[]>(1024 * 1024, (parts) =>
  parts.reduce((sum, part) => sum + 2 * part.length + 50, 0),
);

function partsOf(phrase: string): string[] {
  const known = split.get(phrase);
  if (known) return known;
  const parts = phrase.split(' ').map((word) => (/^\p{L}/u.test(word) ? normalised(word) : word));
  split.set(phrase, parts);
  return parts;
}
