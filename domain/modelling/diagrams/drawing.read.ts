import { isUuid } from '../../../platform/uuid.ts';
import { readXml, type XmlTag } from '../../../platform/xml.ts';
import { unpackPage } from './drawing.pack.ts';
import { CARD_ID, type CardCell, type Drawing, MAX_DRAWING, MAX_UNPACKED } from './drawing.types.ts';

const LIMITS = { depth: 64, elements: 200_000 };
const MAX_PAGES = 500;
const MAX_CARDS = 5_000;
/** A URL of a card, on any host. */
const LINK = /\/cards\/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?=$|[/?#])/i;

/** The id of the card that a link refers to. */
export function linkedCard(link: string): string | undefined {
  return LINK.exec(link.slice(0, 2_000))?.[1]?.toLowerCase();
}

/**
 * Reads a drawing of draw.io (a plain model, or a file of pages, each plain or packed), and finds the cells that refer to
 * cards, by an attribute `cardId` or by a `link` to `/cards/{id}`. Time and memory are bounded by its size.
 * @throws Error with the reason, if it is invalid or too large.
 */
export function readDrawing(xml: string): Drawing {
  if (xml.length > MAX_DRAWING) throw new Error(`it has more than ${MAX_DRAWING} characters`);
  const budget = { characters: MAX_UNPACKED - xml.length, elements: LIMITS.elements, pages: MAX_PAGES };
  const drawing: Drawing = { xml, cells: [], packed: [] };
  const cells = createCells(drawing.cells);
  let page: { end: number; text: string; filled: boolean } | undefined;
  readXml(
    xml,
    {
      open(tag) {
        budget.elements -= 1;
        if (tag.depth === 1 && tag.name !== 'mxfile' && tag.name !== 'mxGraphModel') {
          throw new Error('its root is neither mxfile nor mxGraphModel');
        }
        if (page) page.filled = true;
        if (tag.depth === 2 && tag.name === 'diagram') {
          budget.pages -= 1;
          if (budget.pages < 0) throw new Error(`it has more than ${MAX_PAGES} pages`);
          page = { end: tag.end, text: '', filled: false };
        }
        cells.open(tag);
      },
      text(piece) {
        if (page) page.text += piece;
      },
      close(name, start) {
        cells.close(name);
        if (name !== 'diagram' || !page) return;
        if (!page.filled && page.text.trim()) {
          drawing.packed.push({ start: page.end, end: start, ...readPacked(page.text, budget) });
        }
        page = undefined;
      },
    },
    LIMITS,
  );
  if (cardsOf(drawing).length > MAX_CARDS) throw new Error(`it contains more than ${MAX_CARDS} cards`);
  return drawing;
}

function readPacked(text: string, budget: { characters: number; elements: number }) {
  const xml = unpackPage(text, budget.characters);
  budget.characters -= xml.length;
  const found: CardCell[] = [];
  const cells = createCells(found);
  readXml(
    xml,
    {
      open(tag) {
        budget.elements -= 1;
        if (tag.depth === 1 && tag.name !== 'mxGraphModel')
          throw new Error('a page contains no mxGraphModel');
        cells.open(tag);
      },
      close: cells.close,
    },
    { ...LIMITS, elements: budget.elements },
  );
  return { xml, cells: found };
}

/** Collects the cells that refer to cards; the style of an object is that of the cell within it. */
function createCells(found: CardCell[]): { open(tag: XmlTag): void; close(name: string): void } {
  let object: CardCell | undefined;
  return {
    open(tag) {
      const { depth: _, ...place } = tag;
      const html = isHtml(tag.attributes.style);
      if (tag.name === 'mxCell' && object) object.html = html;
      const cardId = cardOf(tag);
      if (cardId) found.push({ ...place, html, cardId });
      if (tag.name === 'object' || tag.name === 'UserObject') object = cardId ? found.at(-1) : undefined;
    },
    close(name) {
      if (name === 'object' || name === 'UserObject') object = undefined;
    },
  };
}

const isHtml = (style: string | undefined): boolean => /(?:^|;)html=1(?:;|$)/.test(style ?? '');

function cardOf({ name, attributes }: XmlTag): string | undefined {
  if (name !== 'object' && name !== 'UserObject' && name !== 'mxCell') return undefined;
  const id = attributes[CARD_ID]?.trim();
  if (id !== undefined && isUuid(id)) return id.toLowerCase();
  return attributes.link === undefined ? undefined : linkedCard(attributes.link);
}

/** Every cell that refers to a card. */
export function cellsOf({ cells, packed }: Drawing): CardCell[] {
  return [...cells, ...packed.flatMap((page) => page.cells)];
}

/** The ids of the cards in a drawing, each once. */
export function cardsOf(drawing: Drawing): string[] {
  return [...new Set(cellsOf(drawing).map(({ cardId }) => cardId))];
}
