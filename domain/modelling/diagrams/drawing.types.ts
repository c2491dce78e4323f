/** How large a drawing may be: characters as it is sent, and of all its pages unpacked. */
export const MAX_DRAWING = 4 * 1024 * 1024;
export const MAX_UNPACKED = 16 * 1024 * 1024;

/** The attribute by which a cell names its card. */
export const CARD_ID = 'cardId';
/** The attribute that marks a cell whose card is archived or deleted. */
export const CARD_STATE = 'cardState';

/** A drawing without any cell. */
export const EMPTY_DRAWING =
  '<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/></root></mxGraphModel>';

/** A start tag that names a card. */
export interface CardCell {
  name: string;
  attributes: Record<string, string>;
  start: number;
  end: number;
  isEmpty: boolean;
  /** Whether its label is HTML. */
  html: boolean;
  cardId: string;
}

/** A packed page: where it stands in the drawing, what it says, and its cells with places in that. */
interface PackedPage {
  start: number;
  end: number;
  xml: string;
  cells: CardCell[];
}

/** A drawing as far as cards go. */
export interface Drawing {
  xml: string;
  /** Cells that are not in a packed page. */
  cells: CardCell[];
  packed: PackedPage[];
}

/** What is kept of a drawing: the cards that it names, and whether some cell says that its card is archived or deleted. */
export interface ReadDrawing {
  xml: string;
  ids: string[];
  marked: boolean;
}

/** What has become of a card that a drawing names. */
export interface CardFact {
  /** The id as it is drawn. */
  id: string;
  /** The id of the card as it is now: another one where the card was merged. */
  now: string;
  /** Its name when the drawing was saved, and at present. */
  was: string | null;
  name: string;
  state: 'active' | 'archived' | 'deleted';
}
