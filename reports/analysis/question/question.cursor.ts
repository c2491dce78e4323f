import { createLru } from '../../../platform/lru.ts';
import { readSpan, type Span } from './question.dates.ts';
import grammar from './question.grammar.json' with { type: 'json' };
import { normalised, type Word } from './question.words.ts';

const numberWords: Readonly<Record<string, number>> = grammar.numbers;

/** A position in the words of a question, from which they are consumed. */
export class QuestionCursor {
  at = 0;
  readonly words: readonly Word[];
  readonly norms: readonly string[];
  /** YYYY-MM-DD. */
  readonly today: string;

  constructor(words: readonly Word[], today: string) {
    this.words = words;
    // quoted text does not match phrases
    this.norms = words.map(({ kind, norm }) => (kind === 'quoted' ? '"' : norm));
    this.today = today;
  }

  get ended(): boolean {
    return this.at >= this.words.length;
  }

  /** Calls `read`, and returns to the present position if it finds nothing: undefined or false. */
  attempt<T>(read: () => T): T {
    const start = this.at;
    const found = read();
    if (found === undefined || found === false) this.at = start;
    return found;
  }

  /** Whether the phrase is at the position, or `further` words behind it. */
  sees(phrase: string, further = 0): boolean {
    return partsOf(phrase).every((word, offset) => this.norms[this.at + further + offset] === word);
  }

  /** Consumes the phrase if it is here. */
  takePhrase(phrase: string): boolean {
    if (!this.sees(phrase)) return false;
    this.at += partsOf(phrase).length;
    return true;
  }

  /** Consumes the first of the phrases that is here. */
  takeAny(phrases: readonly string[]): boolean {
    return phrases.some((phrase) => this.takePhrase(phrase));
  }

  takeNumber(): number | undefined {
    const word = this.words[this.at];
    const number = word?.kind === 'number' ? Number(word.norm) : numberWords[word?.norm ?? ''];
    if (number !== undefined) this.at += 1;
    return number;
  }

  /** Whether a number is here, in digits or in words. */
  get seesNumber(): boolean {
    const word = this.words[this.at];
    return word !== undefined && (word.kind === 'number' || numberWords[word.norm] !== undefined);
  }

  /** A span of time, such as `next year`; see readSpan. */
  takeSpan(): Span | undefined {
    const found = readSpan(this.words, this.at, this.today);
    this.at += found?.length ?? 0;
    return found?.span;
  }

  takeQuoted(): string | undefined {
    const word = this.words[this.at];
    if (word?.kind !== 'quoted') return undefined;
    this.at += 1;
    return word.norm;
  }

  /** The words from a position to here, as written. */
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
