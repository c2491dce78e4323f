import suppliers from './known-suppliers.json' with { type: 'json' };
import { plainNameWords } from './names.ts';
import { isDistinctive } from './vocabulary.ts';

/** Finds the vendor at the beginning of a name's words, and its number of words. */
export type VendorOf = (words: readonly string[]) => { name: string; length: number } | undefined;

/** The names of known vendors; brands that belong to another vendor are products. */
const known = suppliers
  .filter((supplier) => !('parent' in supplier))
  .map(({ name }) => name)
  .filter((name) => isDistinctive(plainNameWords(name)[0]!));

/**
 * Finds known vendors and further ones.
 * @param written changes names as the names that are compared were changed.
 */
export function vendorReader(
  further: readonly string[],
  written: (name: string) => string = (name) => name,
): VendorOf {
  const vendors = new Map(
    [...known, ...further]
      .map((name) => [plainNameWords(written(name)).join(' '), name] as const)
      .filter(([words]) => words !== ''),
  );
  const most = Math.max(...[...vendors.keys()].map((words) => words.split(' ').length));
  return (words) => {
    for (let length = Math.min(most, words.length); length > 0; length--) {
      const name = vendors.get(words.slice(0, length).join(' '));
      if (name !== undefined) return { name, length };
    }
    return undefined;
  };
}

/** Finds known vendors only. */
export const vendorOf: VendorOf = vendorReader([]);
