import suppliers from '../matching/known-suppliers.json' with { type: 'json' };
import categories from './categories.json' with { type: 'json' };

/** A sub-category with the words that indicate it. */
export interface SubCategory {
  category: string;
  name: string;
  /** English words and phrases of names and descriptions; words of other languages are translated by the vocabulary. */
  words: readonly string[];
  /** Subtypes of cards that indicate it like a word. */
  subtypes?: readonly string[];
}

/** Categories of supplies; of two equally likely sub-categories the first one is used. */
export const lexicon: readonly SubCategory[] = categories.map(({ words, ...sub }) => ({
  ...sub,
  words: words.split(', '),
}));

/** The category of a supplier without evidence. */
export const UNCATEGORISED = { category: 'Uncategorised', sub_category: '' };

/** A supplier with several names, or with an owner. */
export interface KnownSupplier {
  name: string;
  /** Other names, abbreviations and brands of the same company. */
  aliases?: readonly string[];
  /** The company that owns it. */
  parent?: string;
  /** Whether the name denotes a product, so that it is not removed at the beginning of names. */
  product?: boolean;
  /** The sub-category of the lexicon that it is known for. */
  supplies?: string;
  /** Whether it supplies many other things too, so that the evidence of the cards counts more. */
  varied?: boolean;
}

/** Common vendors with many spellings; all others are resolved from the inventory alone. */
export const knownSuppliers: readonly KnownSupplier[] = suppliers;
