/** A name under which somebody is said to supply something. */
export interface NamedSupplier {
  /** As it is written. */
  name: string;
  /** The Provider card that bears the name; null for what an attribute says. */
  card: string | null;
  /** Other names of the card. */
  aliases: readonly string[];
  /** The host of the card's website, without `www.`; null where it has none. */
  host: string | null;
  /** `vendor`, `partner` or `internal`, as the card says. */
  kind: SupplierKind;
  /** How many cards it supplies under this name. */
  supplied: number;
}

export type SupplierKind = 'vendor' | 'partner' | 'internal';

/** One of the names of a supplier. */
export interface ResolvedName {
  name: string;
  key: string;
  /** Provider cards that bear it. */
  cards: string[];
  /** How sure it is that it names this supplier, 0..1. */
  confidence: number;
  /** Why, in plain words. */
  reason: string;
}

/** A supplier with all of its names. */
export interface ResolvedSupplier {
  canonicalName: string;
  kind: SupplierKind;
  /** The canonical name is the first; none comes twice. */
  names: ResolvedName[];
  /** The least confidence of its names. */
  confidence: number;
  /** The place in the list of the supplier that it belongs to; null: to none of them. */
  parent: number | null;
  /** Why, and how sure it is. */
  parentReason: string | null;
  parentConfidence: number | null;
  /** The name of the group at the top, whether the inventory has a card of it or not; its own name where it belongs to none. */
  group: string;
}

/** What somebody supplies, and why that is thought. */
export interface Categorised {
  category: string;
  sub_category: string;
  /** The share of all evidence that speaks for it, 0..1; null without any. */
  confidence: number | null;
  reasoning: string;
}

/** A card that is supplied, and by how many suppliers, who share its costs. */
interface Supplied {
  card: string;
  sharedBy: number;
}

/** A supplier with what a run found of it. */
export interface FoundSupplier extends ResolvedSupplier {
  /** The cards that are the supplier. */
  cards: string[];
  supplied: Supplied[];
  /** Null: the run did not look, and what was known stays. */
  categorised: Categorised | null;
  /** Whether the run placed it in the hierarchy. */
  placed: boolean;
}

/** A product of a supplier. */
export interface FoundProduct {
  /** The place of its supplier. */
  supplier: number;
  key: string;
  name: string;
  supplied: Supplied[];
}
