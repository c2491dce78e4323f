import type { FieldError } from '../../../platform/errors.ts';
import { checkedUrl } from '../../collaboration/documents/documents.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { type RelationValues, setPart } from './convert.ts';
import { addressesOf, quoted, readStatus } from './convert.values.ts';
import { fold } from './fold.ts';
import { LEFT_OUT } from './mapping.targets.ts';
import type { SourceRow } from './source.types.ts';

/** As single writes have them. */
const MAX_NAME = 500;
const MAX_URL = 2_000;
const MAX_CONTENT = 10_000;
/** The type of a link whose own is not known here. */
const UNTYPED = 'link';

/** The cells of a row that is no card, by what their columns are mapped to. */
export type Named = ReadonlyMap<string, NamedCell>;

interface NamedCell {
  column: string;
  cell: string;
  /** Whether the target was found by the column's name alone. */
  guessed: boolean;
}

/** The cells of a row by target; the first column counts where two mean the same. */
export function namedCells(
  { columns, guessed }: { columns: ReadonlyMap<string, string>; guessed: ReadonlySet<string> },
  row: SourceRow,
): Named {
  const named = new Map<string, NamedCell>();
  for (const [column, cell] of Object.entries(row.cells)) {
    const target = columns.get(column);
    if (target !== undefined && target !== LEFT_OUT && !named.has(target))
      named.set(target, { column, cell, guessed: guessed.has(column) });
  }
  return named;
}

/** Whether the row's status means archived, and what is left out of it where that is not known. */
export function statusOf(named: Named): { archived: boolean; left_out: FieldError[] } {
  const status = named.get('status');
  if (!status) return { archived: false, left_out: [] };
  const read = readStatus(status.cell, status.guessed);
  if ('archived' in read) return { ...read, left_out: [] };
  // states of relations, links and comments are no card's: other words for them are read over
  const left_out = read.code === 'ambiguous_status' ? [{ field: status.column, ...read }] : [];
  return { archived: false, left_out };
}

/** The values of a relation, and those that stand for nothing. */
export function relationValues(
  named: Named,
  type: RelationType,
  seesCosts: boolean,
): { values: RelationValues | null; left_out: FieldError[] } {
  const values: RelationValues = {};
  const left_out: FieldError[] = [];
  for (const [target, { column, cell }] of named) {
    if (target !== 'description' && !target.startsWith('attributes.')) continue;
    const faults = setPart(values, type, target, cell, seesCosts);
    left_out.push(...faults.map((fault) => ({ ...fault, field: column })));
  }
  return { values: Object.keys(values).length > 0 ? values : null, left_out };
}

/** A link as it is to be made, or why it cannot be. */
export type ConvertedDocument =
  | { payload: { name: string; url: string; type: string }; left_out: FieldError[] }
  | { fault: string };

/** Makes a link of a row. @param types the link types in force: their labels by key. */
export function convertDocument(named: Named, types: ReadonlyMap<string, string>): ConvertedDocument {
  const url = named.get('url')?.cell;
  if (url === undefined) return { fault: 'has no address: the contents of files are not in the source' };
  if (url.length > MAX_URL) return { fault: `url: has more than ${MAX_URL} characters` };
  try {
    checkedUrl(url);
  } catch (error) {
    return { fault: `url: ${(error as { errors: FieldError[] }).errors[0]!.message}` };
  }
  const name = named.get('name')?.cell ?? url.slice(0, MAX_NAME);
  if (name.length > MAX_NAME) return { fault: `name: has more than ${MAX_NAME} characters` };
  const told = named.get('document_type');
  const type =
    told && [...types].find(([key, label]) => [fold(key), fold(label)].includes(fold(told.cell)))?.[0];
  const left_out =
    told && type === undefined
      ? [{ field: told.column, code: 'unknown_option', message: `${quoted(told.cell)} is no link type` }]
      : [];
  return { payload: { name, url, type: type ?? UNTYPED }, left_out };
}

/** A comment as it is to be made. */
interface CommentPayload {
  content: string;
  /** Null: nobody here has the author's address. Then whoever applies the migration writes it, naming the author. */
  user_id: string | null;
  /** Null where the source does not tell it. */
  created_at: string | null;
}

export type ConvertedComment = { payload: CommentPayload; left_out: FieldError[] } | { fault: string };

/** The address of who has written a comment or, with the prefix `reply.`, the reply to it. */
export function authorOf(named: Named, prefix: '' | 'reply.'): string | undefined {
  return addressesOf(named.get(`${prefix}author`)?.cell ?? '')[0];
}

/**
 * Makes a comment of a row, or with the prefix `reply.` of what it tells of a reply; undefined where it tells of none.
 * @param users ids by address in small letters.
 */
export function convertComment(
  named: Named,
  prefix: '' | 'reply.',
  users: ReadonlyMap<string, string>,
  now: Date,
): ConvertedComment | undefined {
  const text = named.get(`${prefix}content`)?.cell;
  if (text === undefined) return prefix === '' ? { fault: 'content: is missing' } : undefined;
  const left_out: FieldError[] = [];
  const day = named.get(`${prefix}created_at`);
  const created = day && momentOf(day.cell, now);
  if (day && created === undefined) {
    const message = `${quoted(day.cell)} is no date as YYYY-MM-DD that is past`;
    left_out.push({ field: day.column, code: 'bad_date', message });
  }
  const author = named.get(`${prefix}author`)?.cell;
  const user_id = users.get(authorOf(named, prefix)?.toLowerCase() ?? '') ?? null;
  const by = [author, created?.slice(0, 10)].filter(Boolean).join(', ');
  const content = user_id === null && by !== '' ? `${by}:\n\n${text}` : text;
  if (content.length > MAX_CONTENT) return { fault: `content: has more than ${MAX_CONTENT} characters` };
  return { payload: { content, user_id, created_at: created ?? null }, left_out };
}

/** A day, or a moment of one, in UTC; undefined for none and for what is still to come. */
function momentOf(cell: string, now: Date): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(cell))
    return undefined;
  const iso = cell.replace(' ', 'T');
  // without a zone it is UTC, as all else is
  const moment = new Date(/T/.test(iso) && !/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso);
  if (Number.isNaN(moment.getTime()) || moment > now) return undefined;
  // 30 February would be a day of March
  return /T/.test(iso) || moment.toISOString().startsWith(cell) ? moment.toISOString() : undefined;
}
