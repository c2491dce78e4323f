import suppliers from './known-suppliers.json' with { type: 'json' };
import { plainNameWords } from './names.ts';
import { isDistinctive } from './vocabulary.ts';

/** Known vendors by their words; brands that belong to another vendor are products. */
const vendors = new Map(
  suppliers
    .filter((supplier) => !('parent' in supplier))
    .map(({ name }) => [plainNameWords(name), name] as const)
    .filter(([words]) => isDistinctive(words[0]!))
    .map(([words, name]) => [words.join(' '), name]),
);
const MOST_WORDS = Math.max(...[...vendors.keys()].map((words) => words.split(' ').length));

/** The known vendor at the beginning of a name's words, and its number of words. */
export function vendorOf(words: readonly string[]): { name: string; length: number } | undefined {
  for (let length = Math.min(MOST_WORDS, words.length); length > 0; length--) {
    const name = vendors.get(words.slice(0, length).join(' '));
    if (name !== undefined) return { name, length };
  }
  return undefined;
}
