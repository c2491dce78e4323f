/** A name of a supplier in the inventory. */
export interface NamedSupplier {
  /** In its original spelling. */
  name: string;
  /** The Provider card with the name; null for a name from an attribute. */
  card: string | null;
  /** Other names of the card. */
  aliases: readonly string[];
  /** The host of the card's website, without `www.`; null if it has none. */
  host: string | null;
  /** `vendor`, `partner` or `internal`, from the card's subtype. */
  kind: SupplierKind;
  /** Number of cards that it supplies under this name. */
  supplied: number;
}

export type SupplierKind = 'vendor' | 'partner' | 'internal';

/** One of the names of a supplier. */
export interface ResolvedName {
  name: string;
  key: string;
  /** Provider cards with the name. */
  cards: string[];
  /** The confidence that it names this supplier, 0..1. */
  confidence: number;
  /** The reason, for users. */
  reason: string;
}

/** A supplier with all of its names. */
export interface ResolvedSupplier {
  canonicalName: string;
  kind: SupplierKind;
  /** The first is the canonical name; without duplicates. */
  names: ResolvedName[];
  /** The lowest confidence of its names. */
  confidence: number;
  /** The index of its parent supplier in the list; null: none. */
  parent: number | null;
  /** The reason, and the confidence. */
  parentReason: string | null;
  parentConfidence: number | null;
  /** The name of the top of its group, whether or not it has a card; its own name if it has no parent. */
  group: string;
}

/** The category of a supplier, with the reason. */
export interface Categorised {
  category: string;
  sub_category: string;
  /** Its share of all evidence, 0..1; null without any. */
  confidence: number | null;
  reasoning: string;
}

/** A supplied card, and the number of its suppliers, who share its costs. */
interface Supplied {
  card: string;
  sharedBy: number;
}

/** The results of a run for a supplier. */
export interface FoundSupplier extends ResolvedSupplier {
  /** The cards of the supplier itself. */
  cards: string[];
  supplied: Supplied[];
  /** Null: the run did not determine it, and stored values remain. */
  categorised: Categorised | null;
  /** Whether the run determined its parent. */
  placed: boolean;
}

/** A product of a supplier. */
export interface FoundProduct {
  /** The index of its supplier. */
  supplier: number;
  key: string;
  name: string;
  supplied: Supplied[];
}
