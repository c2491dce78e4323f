import sanitizeHtml from 'sanitize-html';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { checkLine } from '../../inventory/cards/rules/values.ts';
import {
  type DocumentInfo,
  MAX_CONTENT,
  MAX_NAME,
  MAX_TAGS,
  type Section,
  type SoawContent,
  type VersionEntry,
} from './soaw.model.ts';

/** Elements that are allowed in a section; none of them can execute or load anything. */
export const sectionElements = [
  'p',
  'br',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'blockquote',
  'pre',
  'code',
  'strong',
  'b',
  'em',
  'i',
  'u',
  's',
  'sub',
  'sup',
  'a',
  'table',
  'thead',
  'tbody',
  'tfoot',
  'tr',
  'th',
  'td',
  'caption',
] as const;

/** Their maximum nesting; deeper elements are unwrapped. */
const DEPTH = 30;

/**
 * Well-formed HTML with allowed elements only: others are unwrapped or, if their contents are not text, removed; the
 * only allowed attributes are URLs of links and spans of cells.
 */
export function cleanHtml(html: string): string {
  return sanitizeHtml(html, {
    allowedTags: [...sectionElements],
    allowedAttributes: { a: ['href'], th: ['colspan', 'rowspan'], td: ['colspan', 'rowspan'] },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    nestingLimit: DEPTH,
    parser: { lowerCaseTags: true, lowerCaseAttributeNames: true },
  }).trim();
}

/** The members of a statement's content in a request; null clears. */
export type SoawInput = {
  [Name in keyof SoawContent]?: SoawContent[Name] | null;
};

/**
 * The input as it is stored: HTML cleaned, absent members of the head null, sections in the order of their numbers.
 * @throws EstateError `validation_failed` naming all errors.
 */
export function checkedSoaw(input: SoawInput): Partial<SoawContent> {
  const errors: FieldError[] = [];
  const content: Partial<SoawContent> = {};
  if (input.name !== undefined) {
    content.name = input.name?.trim() ?? '';
    const error =
      content.name === ''
        ? { field: 'name', code: 'required', message: 'must not be blank' }
        : checkLine('name', content.name, MAX_NAME);
    if (error) errors.push(error);
  }
  if (input.initiative_id !== undefined) content.initiative_id = input.initiative_id?.toLowerCase() ?? null;
  if (input.document_info !== undefined) content.document_info = completeInfo(input.document_info ?? {});
  if (input.version_history !== undefined) {
    content.version_history = (input.version_history ?? []).map(wholeEntry);
  }
  if (input.sections !== undefined) {
    const sections = input.sections ?? {};
    const error = tooManyTags(sections);
    if (error) throw invalidFields([...errors, error]);
    content.sections = cleanSections(sections, errors);
  }
  if (JSON.stringify(content).length > MAX_CONTENT) {
    const message = `must not be longer than ${MAX_CONTENT} characters of JSON`;
    errors.push({ field: 'sections', code: 'too_long', message });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return content;
}

/** Limits the nesting: parsing takes quadratic time in it. */
function tooManyTags(sections: Record<string, Section>): FieldError | undefined {
  const tags = Object.values(sections).reduce(
    (sum, { content = '' }) => sum + (content.match(/</g)?.length ?? 0),
    0,
  );
  if (tags <= MAX_TAGS) return undefined;
  return { field: 'sections', code: 'too_many', message: `must not have more than ${MAX_TAGS} tags in all` };
}

/** The document information with all its members. */
export const completeInfo = ({
  prepared_by = null,
  review_date = null,
  reviewed_by = null,
}: DocumentInfo) => ({ prepared_by, review_date, reviewed_by });
const wholeEntry = ({
  version = null,
  date = null,
  revised_by = null,
  description = null,
}: VersionEntry) => ({ version, date, revised_by, description });

function cleanSections(sections: Record<string, Section>, errors: FieldError[]): Record<string, Section> {
  return Object.fromEntries(
    sectionNumbers(sections).map((number): [string, Section] => {
      const { title, content = '', hidden = false, table_data, togaf_data } = sections[number]!;
      const width = table_data?.columns.length ?? 0;
      for (const [n, row] of (table_data?.rows ?? []).entries()) {
        if (row.length <= width) continue;
        const message = `has ${row.length} cells under ${width} columns`;
        errors.push({ field: `sections.${number}.table_data.rows.${n}`, code: 'too_many', message });
      }
      return [
        number,
        {
          ...(title?.trim() ? { title: title.trim() } : {}),
          content: cleanHtml(content),
          hidden,
          ...(table_data ? { table_data } : {}),
          ...(togaf_data ? { togaf_data } : {}),
        },
      ];
    }),
  );
}

/** The numbers of sections in reading order. */
export function sectionNumbers(sections: Record<string, unknown>): string[] {
  const parts = (number: string) => number.split('.').map(Number) as [number, number];
  return Object.keys(sections).sort((a, b) => {
    const [[chapterA, partA], [chapterB, partB]] = [parts(a), parts(b)];
    return chapterA - chapterB || partA - partB;
  });
}
