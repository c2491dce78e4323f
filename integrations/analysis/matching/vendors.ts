import suppliers from './known-suppliers.json' with { type: 'json' };
import { plainNameWords } from './names.ts';
import { isDistinctive } from './vocabulary.ts';

/** Finds the vendor at the beginning of a name's words, or its owner, and the number of words. */
export type VendorOf = (words: readonly string[]) => { name: string; length: number } | undefined;

/** Known vendors, also those that belong to another one (`VMware`), but no products (`Tableau`). */
const known = suppliers
  .filter((supplier) => !('product' in supplier))
  .map(({ name }) => name)
  .filter((name) => isDistinctive(plainNameWords(name)[0]!));
const owners = new Map(
  suppliers.flatMap((supplier) => ('parent' in supplier ? [[supplier.name, supplier.parent!] as const] : [])),
);

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
      if (name !== undefined) return { name: owners.get(name) ?? name, length };
    }
    return undefined;
  };
}

/** Finds known vendors only. */
export const vendorOf: VendorOf = vendorReader([]);
