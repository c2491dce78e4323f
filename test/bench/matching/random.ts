import { mulberry32 } from '../landscape/random.ts';
import words from './words.json' with { type: 'json' };

const { onsets, vowels, ends } = words.syllables;

/** Numbers in 0..1, the same for the same seed. */
export class Random {
  readonly next: () => number;

  constructor(seed: number) {
    this.next = mulberry32(seed);
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  happens(share: number): boolean {
    return this.next() < share;
  }

  of<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** A made-up word of two to four syllables. */
  word(): string {
    const syllables = Array.from({ length: 2 + this.below(3) }, () => this.of(onsets) + this.of(vowels));
    const word = syllables.join('') + this.of(ends);
    return word[0]!.toUpperCase() + word.slice(1);
  }

  /** The text with one letter left out, doubled or swapped with the next. */
  misspelt(text: string): string {
    if (text.length < 4) return text;
    const at = 1 + this.below(text.length - 2);
    const [before, here, after] = [text.slice(0, at), text[at]!, text.slice(at + 1)];
    return this.of([
      before + after,
      `${before}${here}${here}${after}`,
      `${before}${after[0]}${here}${after.slice(1)}`,
    ]);
  }
}

export const split = (text: string): string[] => text.split(' ');
