import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isUuid } from '../../../platform/uuid.ts';
import { readXml, type XmlTag, xmlAttribute } from '../../../platform/xml.ts';

/** The largest drawing in characters, as it is sent and with all pages unpacked. */
export const MAX_DRAWING = 4 * 1024 * 1024;
const MAX_UNPACKED = 16 * 1024 * 1024;

/** The attribute of a cell with the id of its card. */
const CARD_ID = 'cardId';
/** The attribute that marks a cell whose card is archived or deleted. */
const CARD_STATE = 'cardState';

/** A drawing without cells. */
export const EMPTY_DRAWING =
  '<mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/></root></mxGraphModel>';

/** The start tag of a cell that refers to a card. */
interface CardCell {
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
interface Drawing {
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

/**
 * Unpacks a page in the packed form of draw.io.
 * @throws Error for an invalid page, and one with more than `most` characters.
 */
export function unpackPage(packed: string, most: number): string {
  const compact = packed.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw new Error('a page is neither XML nor packed');
  let encoded: string;
  try {
    // the bound allows for URI encoding
    encoded = inflateRawSync(Buffer.from(compact, 'base64'), { maxOutputLength: most * 3 }).toString('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ERR_BUFFER_TOO_LARGE' ? 'it is too large when unpacked' : 'a page cannot be unpacked',
    );
  }
  let xml: string;
  try {
    xml = decodeURIComponent(encoded);
  } catch {
    throw new Error('a page cannot be unpacked');
  }
  if (xml.length > most) throw new Error('it is too large when unpacked');
  return xml;
}

/** A page in the packed form of draw.io: URI encoding, raw deflate, base64. */
export const packPage = (xml: string): string => deflateRawSync(encodeURIComponent(xml)).toString('base64');

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

/** Whether a drawing differs from the current state of its cards. @param marked whether it contains `cardState`. */
export function isOutdated(facts: readonly CardFact[], marked: boolean): boolean {
  return (
    (marked && facts.length > 0) ||
    facts.some(({ id, now, was, name, state }) => now !== id || state !== 'active' || was !== name)
  );
}

/**
 * Updates a drawing to its cards: cells of merged cards refer to the survivor, labels equal to a former name get the
 * current one, and cells of archived and deleted cards are marked with `cardState`. Everything else stays unchanged,
 * character by character, including cells of cards without a fact.
 */
export function updateCards(xml: string, facts: readonly CardFact[]): string {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const drawing = readDrawing(xml);
  const edits = editsOf(drawing.cells, byId);
  for (const page of drawing.packed) {
    const own = editsOf(page.cells, byId);
    if (own.length === 0) continue;
    edits.push({ start: page.start, end: page.end, text: packPage(applyEdits(page.xml, own)) });
  }
  return applyEdits(xml, edits);
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

function applyEdits(text: string, edits: Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits.sort((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return parts.join('') + text.slice(at);
}

function editsOf(cells: readonly CardCell[], facts: ReadonlyMap<string, CardFact>): Edit[] {
  return cells.flatMap((cell) => {
    const fact = facts.get(cell.cardId);
    const attributes = fact && updatedAttributes(cell, fact);
    return attributes ? [{ start: cell.start, end: cell.end, text: tagOf(cell, attributes) }] : [];
  });
}

/** The updated attributes of a cell; undefined where nothing changes. */
function updatedAttributes(cell: CardCell, fact: CardFact): Record<string, string> | undefined {
  const after = { ...cell.attributes };
  if (fact.now !== fact.id) {
    if (after[CARD_ID] !== undefined) after[CARD_ID] = fact.now;
    if (after.link !== undefined && linkedCard(after.link) === fact.id) {
      after.link = after.link.replace(new RegExp(fact.id, 'i'), fact.now);
    }
  }
  const label = cell.name === 'mxCell' ? 'value' : 'label';
  const text = after[label];
  if (text !== undefined && fact.was !== null && fact.was !== fact.name) {
    after[label] = renamed(text, fact.was, fact.name, cell.html);
  }
  if (fact.state === 'active') delete after[CARD_STATE];
  else after[CARD_STATE] = fact.state;
  const isSame =
    Object.keys(after).length === Object.keys(cell.attributes).length &&
    Object.entries(after).every(([key, value]) => cell.attributes[key] === value);
  return isSame ? undefined : after;
}

function tagOf({ name, isEmpty }: CardCell, attributes: Record<string, string>): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlAttribute(value)}"`);
  return `<${name}${pairs.join('')}${isEmpty ? '/>' : '>'}`;
}

/** Replaces the former name in a label that contains no other text; HTML tags around it stay. */
export function renamed(label: string, was: string, name: string, html: boolean): string {
  if (!html) return label === was ? name : label;
  const parts = label.split(/(<[^<>]*>)/);
  const texts = parts.flatMap((part, n) => (n % 2 === 0 && part.trim() ? [n] : []));
  const [only] = texts;
  if (only === undefined || texts.length > 1) return label;
  const part = parts[only]!;
  if (plainText(part).trim() !== was.trim()) return label;
  const before = part.slice(0, part.length - part.trimStart().length);
  parts[only] = before + htmlText(name) + part.slice(part.trimEnd().length);
  return parts.join('');
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

function plainText(html: string): string {
  return html.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, word) => {
    if (word) return entities[word.toLowerCase()] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Escapes text for HTML. */
export function htmlText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A drawing that is to be read or, with `facts`, updated. */
export type DrawingRequest = { xml: string; facts?: readonly CardFact[] };

/** The drawing as it was read, the reason why it is invalid, or the updated XML. */
export type DrawingResult = { read: ReadDrawing } | { error: string } | { xml: string };

/** Reads or updates a drawing; large ones block the thread. */
export function processDrawing({ xml, facts }: DrawingRequest): DrawingResult {
  if (facts) return { xml: updateCards(xml, facts) };
  try {
    const drawing = readDrawing(xml);
    const marked = cellsOf(drawing).some(({ attributes }) => attributes[CARD_STATE] !== undefined);
    return { read: { xml, ids: cardsOf(drawing), marked } };
  } catch (error) {
    return { error: (error as Error).message.replace(/\s+/g, ' ').slice(0, 200) };
  }
}
