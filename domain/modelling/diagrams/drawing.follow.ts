import { xmlAttribute } from '../../../platform/xml.ts';
import { packPage } from './drawing.pack.ts';
import { linkedCard, readDrawing } from './drawing.read.ts';
import { CARD_ID, CARD_STATE, type CardCell, type CardFact } from './drawing.types.ts';

/** Whether a drawing in which some cell is `marked` says anything else than the facts. */
export function isBehind(facts: readonly CardFact[], marked: boolean): boolean {
  return (
    (marked && facts.length > 0) ||
    facts.some(({ id, now, was, name, state }) => now !== id || state !== 'active' || was !== name)
  );
}

/**
 * A drawing in step with its cards: cells of a merged card name the one that stayed, labels that still say a card's former
 * name say its present one, and cells of archived and deleted cards are marked with `cardState`. Everything else
 * stays as it was sent, letter by letter; so does what names a card of which there is no fact.
 */
export function followCards(xml: string, facts: readonly CardFact[]): string {
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const drawing = readDrawing(xml);
  const edits = editsOf(drawing.cells, byId);
  for (const page of drawing.packed) {
    const own = editsOf(page.cells, byId);
    if (own.length === 0) continue;
    edits.push({ start: page.start, end: page.end, text: packPage(edited(page.xml, own)) });
  }
  return edited(xml, edits);
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

function edited(text: string, edits: Edit[]): string {
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
    const attributes = fact && followed(cell, fact);
    return attributes ? [{ start: cell.start, end: cell.end, text: tagOf(cell, attributes) }] : [];
  });
}

/** The attributes of a cell in step, or undefined where it is. */
function followed(cell: CardCell, fact: CardFact): Record<string, string> | undefined {
  const after = { ...cell.attributes };
  if (fact.now !== fact.id) {
    if (after[CARD_ID] !== undefined) after[CARD_ID] = fact.now;
    if (after.link !== undefined && linkedCard(after.link) === fact.id) {
      after.link = after.link.replace(new RegExp(fact.id, 'i'), fact.now);
    }
  }
  const label = cell.name === 'mxCell' ? 'value' : 'label';
  const said = after[label];
  if (said !== undefined && fact.was !== null && fact.was !== fact.name) {
    after[label] = renamed(said, fact.was, fact.name, cell.html);
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

/** A label that says the former name and nothing else says the present one, in whatever HTML it stands. */
export function renamed(label: string, was: string, name: string, html: boolean): string {
  if (!html) return label === was ? name : label;
  const parts = label.split(/(<[^<>]*>)/);
  const words = parts.flatMap((part, at) => (at % 2 === 0 && part.trim() ? [at] : []));
  const [only] = words;
  if (only === undefined || words.length > 1) return label;
  const part = parts[only]!;
  if (plainText(part).trim() !== was.trim()) return label;
  const before = part.slice(0, part.length - part.trimStart().length);
  parts[only] = before + htmlText(name) + part.slice(part.trimEnd().length);
  return parts.join('');
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

function plainText(html: string): string {
  return html.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, word) => {
    if (word) return named[word.toLowerCase()] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** A text as HTML shows it. */
export function htmlText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
