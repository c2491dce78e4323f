/** A card as a drawing shows it. */
export interface DrawnCard {
  id: string;
  name: string;
  type: string;
}

export interface DrawnRelation {
  source: string;
  target: string;
  type: string;
}

/** A rectangle on the page, in the units of draw.io. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A card at its place; `within` is the index of the group that holds it, to which its place is relative. */
export interface PlacedCard extends Box {
  card: DrawnCard;
  within?: number;
}

/** A frame around cards; `card` is the one that it stands for, null for those that belong to none. */
export interface PlacedGroup extends Box {
  card: DrawnCard | null;
  label: string;
}

/** Everything at its place. */
export interface Layout {
  groups: PlacedGroup[];
  cards: PlacedCard[];
  /** Between cards by index. */
  edges: { from: number; to: number; relation: DrawnRelation }[];
}
