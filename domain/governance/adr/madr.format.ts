import { createHash } from 'node:crypto';
import { parse, stringify } from 'yaml';
import { type AdrInput, plainText } from './adr.content.ts';
import { type AdrContent, type AdrList, adrLists, adrTexts } from './adr.types.ts';
import { readMarked, readSections, writeMarked, writeSections } from './madr.sections.ts';

/** The names of lists in the head of a record; older ones behind. */
const headNames: Record<AdrList, string[]> = {
  decision_makers: ['decision-makers', 'deciders'],
  consulted: ['consulted'],
  informed: ['informed'],
  related_decisions: ['related-decisions'],
};
/** Members of the head that say what the service says in other ways. */
const ownNames = ['title', 'status', 'date', 'reference', 'revision', 'marks'];

/** What the head tells besides the content. */
export interface MadrFacts {
  status: string;
  /** `YYYY-MM-DD` */
  date: string;
  reference: string;
  revision: number;
}

/**
 * A decision as a Markdown record with the sections of MADR 4. Reading it again yields the same content: where headings
 * within the texts would not let it, every text stands between marks that the head names.
 */
export function writeMadr(content: AdrContent, facts: MadrFacts): string {
  const head: Record<string, unknown> = { status: facts.status, date: facts.date };
  for (const name of ['decision_makers', 'consulted', 'informed', 'related_decisions'] as const) {
    if (content[name].length > 0) head[headNames[name][0]!] = content[name];
  }
  head.reference = facts.reference;
  head.revision = facts.revision;
  const plain = `${headText(head)}\n${writeSections(content.title, content)}`;
  if (sameContent(readMadr(plain).input, content)) return plain;
  const mark = markFor(content);
  return `${headText({ ...head, title: content.title, marks: mark })}\n${writeMarked(content.title, content, mark)}`;
}

const headText = (head: Record<string, unknown>): string =>
  `---\n${stringify(head, { lineWidth: 0, defaultStringType: 'PLAIN' })}---\n`;

/** A word that stands in none of the texts; the same for the same texts. */
function markFor(content: AdrContent): string {
  const all = JSON.stringify(content);
  for (let n = 0; ; n += 1) {
    const mark = `part-${createHash('sha256').update(`${n}${all}`).digest('hex').slice(0, 12)}`;
    if (!all.includes(mark)) return mark;
  }
}

function sameContent(input: AdrInput, content: AdrContent): boolean {
  return (
    input.title === content.title &&
    adrTexts.every((name) => (plainText(input[name] ?? '') || null) === content[name]) &&
    adrLists.every((name) => JSON.stringify(input[name] ?? []) === JSON.stringify(content[name]))
  );
}

/** A record as it was read. */
export interface ReadMadr {
  input: AdrInput;
  /** What could not be taken over, in sentences. */
  notes: string[];
}

/** A head that is no YAML. */
export class BadHead extends Error {}

/**
 * Reads a Markdown record: of MADR in its versions, of Nygard's form, or another with a title.
 * @throws BadHead when what stands between the dashes is no YAML.
 */
export function readMadr(text: string): ReadMadr {
  const plain = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const [, yaml, body] = /^---\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n([\s\S]*))?$/.exec(plain) ?? [];
  const head = yaml === undefined ? {} : readHead(yaml);
  const markdown = (yaml === undefined ? undefined : (body ?? '')) ?? plain;
  const input: AdrInput = {};
  const mark = typeof head.marks === 'string' ? head.marks : undefined;
  const sections = readSections(mark === undefined ? markdown : '');
  Object.assign(input, mark === undefined ? sections.texts : readMarked(markdown, mark));
  const title = (mark === undefined ? sections.title : undefined) ?? head.title;
  if (typeof title === 'string') input.title = title;
  const known = new Set(ownNames);
  for (const name of adrLists) {
    for (const key of headNames[name]) {
      known.add(key);
      if (head[key] !== undefined && head[key] !== null) input[name] = entriesOf(head[key]);
    }
  }
  const notes: string[] = [];
  const status = head.status === undefined || head.status === null ? '' : String(head.status);
  if (!['', 'draft', 'proposed'].includes(status)) {
    notes.push(`The record says "${status}"; here a decision is a draft until it is signed.`);
  }
  const left = Object.keys(head).filter((key) => !known.has(key));
  if (left.length > 0) notes.push(`Left out of its head: ${left.join(', ')}.`);
  return { input, notes };
}

function readHead(yaml: string): Record<string, unknown> {
  try {
    // no aliases, which could unfold without end
    const head: unknown = parse(yaml, { maxAliasCount: 0, logLevel: 'error' });
    if (head === null || head === undefined) return {};
    if (typeof head !== 'object' || Array.isArray(head)) throw new BadHead('is no YAML mapping');
    return head as Record<string, unknown>;
  } catch (error) {
    if (error instanceof BadHead) throw error;
    throw new BadHead('is no YAML', { cause: error });
  }
}

/** A list, or a line of names with commas between them. */
function entriesOf(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)));
  }
  if (typeof value === 'object') return [JSON.stringify(value)];
  return String(value)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
