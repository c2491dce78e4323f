import { xmlAttribute } from '../../../platform/xml.ts';
import { packPage } from './drawing.pack.ts';
import { linkedCard, readDrawing } from './drawing.read.ts';
import { CARD_ID, CARD_STATE, type CardCell, type CardFact } from './drawing.types.ts';

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
