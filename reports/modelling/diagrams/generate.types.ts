/** A card in a diagram. */
export interface DrawnCard {
  id: string;
  name: string;
  type: string;
}

/** A relation or data flow; of one along which data flows, the source is where it comes from. */
export interface DrawnRelation {
  source: string;
  target: string;
  type: string;
  /** Replaces the label of the type. */
  label?: string | null;
  /** Whether data flows both ways. */
  both?: boolean;
}

/** A rectangle on the page, in the units of draw.io. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A placed card; `within` is the index of its group, to which its position is relative. */
export interface PlacedCard extends Box {
  card: DrawnCard;
  within?: number;
}

/** A frame around cards; `card` is the group's card, null for cards without a group. */
export interface PlacedGroup extends Box {
  card: DrawnCard | null;
  label: string;
}

/** The placed groups, cards and lines. */
export interface Layout {
  groups: PlacedGroup[];
  cards: PlacedCard[];
  /** Between cards by index. */
  edges: { from: number; to: number; relation: DrawnRelation }[];
}
