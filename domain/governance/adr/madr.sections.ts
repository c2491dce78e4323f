import { Marked } from 'marked';
import type { AdrText } from './adr.types.ts';

/** The sections of MADR 4 (https://adr.github.io/madr/) in the order of its template, with the text that each holds. */
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
/** Below these the heading is kept, since there are two of them. */
const keptNames: Record<string, AdrText> = {
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
export interface ReadSections {
  title: string | undefined;
  texts: Partial<Record<AdrText, string>>;
}

/**
 * Reads a record by its headings: the first of the first level is the title, known ones begin their text, and all others
 * are part of the text in which they stand. What stands before the first section belongs to the context.
 */
export function readSections(markdown: string): ReadSections {
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
        // a section of its own, though there be nothing in it
        const before = found.texts[known]?.trimEnd();
        found.texts[known] = before ? `${before}\n\n` : '';
        continue;
      }
      current = (token.depth === 3 ? keptNames[name] : undefined) ?? current;
    }
    const before = found.texts[current] ?? '';
    // where a text goes on
    if (token.type === 'space' && before.endsWith('\n\n')) continue;
    found.texts[current] = before + token.raw;
  }
  return found;
}

/** A record of a title and texts; those that are empty have no section. */
export function writeSections(title: string, texts: Partial<Record<AdrText, string | null>>): string {
  const parts = [`# ${title}`];
  for (const { text, heading, depth } of madrSections) {
    const content = texts[text];
    // consequences and confirmation stand below the outcome
    const needed = text === 'decision' && (texts.consequences || texts.confirmation);
    if (!content && !needed) continue;
    parts.push(`${'#'.repeat(depth)} ${heading}`);
    if (content) parts.push(content);
  }
  return `${parts.join('\n\n')}\n`;
}

const marker = (mark: string, text: string): string => `<!-- ${mark} ${text} -->`;

/** The same with a line before each text that nothing in the texts looks like: for texts that headings do not part. */
export function writeMarked(
  title: string,
  texts: Partial<Record<AdrText, string | null>>,
  mark: string,
): string {
  const parts = [`# ${title.replace(/\s+/g, ' ')}`];
  for (const { text, heading, depth } of madrSections) {
    const content = texts[text];
    if (content)
      parts.push(`${'#'.repeat(depth)} ${heading}\n${marker(mark, text)}`, content, marker(mark, 'end'));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Reads what {@link writeMarked} has written. */
export function readMarked(markdown: string, mark: string): ReadSections['texts'] {
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
