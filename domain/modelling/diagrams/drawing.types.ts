/** The largest drawing in characters, as it is sent and with all pages unpacked. */
export const MAX_DRAWING = 4 * 1024 * 1024;
export const MAX_UNPACKED = 16 * 1024 * 1024;

/** The attribute of a cell with the id of its card. */
export const CARD_ID = 'cardId';
/** The attribute that marks a cell whose card is archived or deleted. */
export const CARD_STATE = 'cardState';

/** A drawing without cells. */
export const EMPTY_DRAWING =
  '<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/></root></mxGraphModel>';

/** The start tag of a cell that refers to a card. */
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

/** A packed page: its offsets in the drawing, its unpacked XML, and its cells with offsets in that. */
interface PackedPage {
  start: number;
  end: number;
  xml: string;
  cells: CardCell[];
}

/** A drawing with the cells that refer to cards. */
export interface Drawing {
  xml: string;
  /** Cells that are not in a packed page. */
  cells: CardCell[];
  packed: PackedPage[];
}

/** What is stored of a drawing: the ids of its cards, and whether a cell is marked with `cardState`. */
export interface ReadDrawing {
  xml: string;
  ids: string[];
  marked: boolean;
}

/** The current state of a card in a drawing. */
export interface CardFact {
  /** The id in the drawing. */
  id: string;
  /** The current id, which differs after a merge. */
  now: string;
  /** Its name when the drawing was saved, and its current name. */
  was: string | null;
  name: string;
  state: 'active' | 'archived' | 'deleted';
}
