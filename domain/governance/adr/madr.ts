import { createHash } from 'node:crypto';
import { Marked } from 'marked';
import { parse, stringify } from 'yaml';
import {
  type AdrContent,
  type AdrInput,
  type AdrList,
  type AdrText,
  adrLists,
  adrTexts,
  plainText,
} from './adr.kind.ts';

/**
 * The sections of MADR 4 (https://adr.github.io/madr/) in the order of its template, with the member that each
 * contains.
 */
export const madrSections: { text: AdrText; heading: string; depth: 2 | 3 }[] = [
  { text: 'context', heading: 'Context and Problem Statement', depth: 2 },
  { text: 'decision_drivers', heading: 'Decision Drivers', depth: 2 },
  { text: 'alternatives_considered', heading: 'Considered Options', depth: 2 },
  { text: 'decision', heading: 'Decision Outcome', depth: 2 },
  { text: 'consequences', heading: 'Consequences', depth: 3 },
  { text: 'confirmation', heading: 'Confirmation', depth: 3 },
  { text: 'pros_and_cons', heading: 'Pros and Cons of the Options', depth: 2 },
  { text: 'more_information', heading: 'More Information', depth: 2 },
];

/** Other names of the same: of earlier versions of MADR, and of Nygard's records. */
const otherNames: Record<string, AdrText> = {
  context: 'context',
  decision: 'decision',
  links: 'more_information',
  validation: 'confirmation',
};
/** Their headings stay in the text, because two of them have the same section. */
const retainedNames: Record<string, AdrText> = {
  'positive consequences': 'consequences',
  'negative consequences': 'consequences',
};
const names = new Map<string, AdrText>([
  ...madrSections.map(({ heading, text }) => [heading.toLowerCase(), text] as const),
  ...Object.entries(otherNames),
]);

/** A line of a quote or a list. */
const LINE = /^ {0,3}(?:>|[*+-](?=[ \t\n]|$)|\d{1,9}[.)](?=[ \t\n]|$))[^\n]*(?:\n|$)/;
const line = (src: string) => {
  const raw = LINE.exec(src)?.[0];
  return raw ? { type: 'html' as const, raw, text: raw, block: true, pre: false } : undefined;
};

/**
 * Finds headings and blocks of code. Quotes and lists are lines to it: what lies in them is never a section, and reading
 * them as deep as they go takes more time than anybody has.
 */
const reader = new Marked({
  tokenizer: { blockquote: line as never, list: line as never, def: () => undefined, table: () => undefined },
});

/** The texts of a document, still with blank lines around them, and its title; undefined without one. */
interface ReadSections {
  title: string | undefined;
  texts: Partial<Record<AdrText, string>>;
}

/**
 * Reads a record by its headings: the first of the first level is the title, known ones begin their text, and all others
 * are part of the text that contains them. Text before the first section belongs to the context.
 */
function readSections(markdown: string): ReadSections {
  const found: ReadSections = { title: undefined, texts: {} };
  let current: AdrText = 'context';
  for (const token of new reader.Lexer(reader.defaults).blockTokens(markdown, [])) {
    if (token.type === 'heading') {
      const name = token.text.trim().toLowerCase();
      if (token.depth === 1 && found.title === undefined) {
        found.title = token.text.trim();
        continue;
      }
      const known = token.depth === 2 || token.depth === 3 ? names.get(name) : undefined;
      if (known) {
        current = known;
        // A section, even if it is empty.
        const before = found.texts[known]?.trimEnd();
        found.texts[known] = before ? `${before}\n\n` : '';
        continue;
      }
      current = (token.depth === 3 ? retainedNames[name] : undefined) ?? current;
    }
    const before = found.texts[current] ?? '';
    // Where the text continues.
    if (token.type === 'space' && before.endsWith('\n\n')) continue;
    found.texts[current] = before + token.raw;
  }
  return found;
}

/** A record of a title and texts; those that are empty have no section. */
function writeSections(title: string, texts: Partial<Record<AdrText, string | null>>): string {
  const parts = [`# ${title}`];
  for (const { text, heading, depth } of madrSections) {
    const content = texts[text];
    // consequences and confirmation are subsections of the outcome
    const needed = text === 'decision' && (texts.consequences || texts.confirmation);
    if (!content && !needed) continue;
    parts.push(`${'#'.repeat(depth)} ${heading}`);
    if (content) parts.push(content);
  }
  return `${parts.join('\n\n')}\n`;
}

const marker = (mark: string, text: string): string => `<!-- ${mark} ${text} -->`;

/** The same with a line before each text that nothing in the texts looks like: for texts that headings do not part. */
function writeMarked(title: string, texts: Partial<Record<AdrText, string | null>>, mark: string): string {
  const parts = [`# ${title.replace(/\s+/g, ' ')}`];
  for (const { text, heading, depth } of madrSections) {
    const content = texts[text];
    if (content)
      parts.push(`${'#'.repeat(depth)} ${heading}\n${marker(mark, text)}`, content, marker(mark, 'end'));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Reads what {@link writeMarked} has written. */
function readMarked(markdown: string, mark: string): ReadSections['texts'] {
  const texts: ReadSections['texts'] = {};
  for (const { text } of madrSections) {
    const begin = markdown.indexOf(`${marker(mark, text)}\n\n`);
    if (begin < 0) continue;
    const from = begin + marker(mark, text).length + 2;
    const to = markdown.indexOf(`\n\n${marker(mark, 'end')}`, from);
    texts[text] = markdown.slice(from, to < 0 ? undefined : to);
  }
  return texts;
}

/** The names of lists in the head of a record; older ones behind. */
const headNames: Record<AdrList, string[]> = {
  decision_makers: ['decision-makers', 'deciders'],
  consulted: ['consulted'],
  informed: ['informed'],
  related_decisions: ['related-decisions'],
};
/** Members of the front matter that repeat other members. */
const ownNames = ['title', 'status', 'date', 'reference', 'revision', 'marks'];

/** The members of the front matter besides the content. */
interface MadrFacts {
  status: string;
  /** `YYYY-MM-DD` */
  date: string;
  reference: string;
  revision: number;
}

/**
 * A decision as a Markdown record with the sections of MADR 4. Reading it again yields the same content: where headings
 * within the texts would prevent that, every text is enclosed in markers that the head names.
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

/** A word that none of the texts contains; the same for the same texts. */
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
interface ReadMadr {
  input: AdrInput;
  /** What could not be imported, in sentences. */
  notes: string[];
}

/** A head that is no YAML. */
export class InvalidFrontMatter extends Error {}

/**
 * Reads a Markdown record: of MADR in its versions, of Nygard's form, or another with a title.
 * @throws InvalidFrontMatter when the front matter is not YAML.
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
    if (typeof head !== 'object' || Array.isArray(head)) throw new InvalidFrontMatter('is no YAML mapping');
    return head as Record<string, unknown>;
  } catch (error) {
    if (error instanceof InvalidFrontMatter) throw error;
    throw new InvalidFrontMatter('is no YAML', { cause: error });
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
