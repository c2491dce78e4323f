import categories from './categories.json' with { type: 'json' };
import suppliers from './known-suppliers.json' with { type: 'json' };

/** A sub-category with the words that indicate it. */
export interface SubCategory {
  category: string;
  name: string;
  /** English words and phrases of names and descriptions; other languages are translated where the vocabulary has them. */
  words: readonly string[];
  /** Subtypes of cards that indicate it like a word. */
  subtypes?: readonly string[];
}

/** What suppliers supply; of two equally likely sub-categories the first one counts. */
export const lexicon: readonly SubCategory[] = categories.map(({ words, ...sub }) => ({
  ...sub,
  words: words.split(', '),
}));

/** The category of a supplier without evidence. */
export const UNCATEGORISED = { category: 'Uncategorised', sub_category: '' };

/** A supplier that is known under several names, or belongs to another. */
export interface KnownSupplier {
  name: string;
  /** Other names, abbreviations and brands of the same company. */
  aliases?: readonly string[];
  /** The company that owns it. */
  parent?: string;
  /** The sub-category of the lexicon that it is known for. */
  supplies?: string;
}

/** Makers that many inventories name in many ways; all others are resolved from the inventory alone. */
export const knownSuppliers: readonly KnownSupplier[] = suppliers;
