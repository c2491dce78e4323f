import type { FieldError } from '../../../platform/errors.ts';
import { checkedUrl } from '../../collaboration/documents/documents.ts';
import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { type RelationValues, setPart } from './convert.ts';
import { addressesOf, quoted, readStatus } from './convert.values.ts';
import { fold } from './fold.ts';
import { LEFT_OUT } from './mapping.targets.ts';
import type { SourceRow } from './source.types.ts';

/** The limits of single writes. */
const MAX_NAME = 500;
const MAX_URL = 2_000;
const MAX_CONTENT = 10_000;
/** The type of a link whose own type is unknown here. */
const UNTYPED = 'link';

/** The cells of a row that is no card, by mapping target. */
export type Named = ReadonlyMap<string, { column: string; cell: string; guessed: boolean }>;

/** The cells of a row by target; if two columns have the same target, the first one counts. */
export function namedCells(
  { columns, guessed }: { columns: ReadonlyMap<string, string>; guessed: ReadonlySet<string> },
  row: SourceRow,
): Named {
  const named = new Map<string, { column: string; cell: string; guessed: boolean }>();
  for (const [column, cell] of Object.entries(row.cells)) {
    const target = columns.get(column);
    if (target !== undefined && target !== LEFT_OUT && !named.has(target))
      named.set(target, { column, cell, guessed: guessed.has(column) });
  }
  return named;
}

/** The text of a mapping target; empty if the row has none. */
export const textOf = (named: Named, target: string): string => named.get(target)?.cell ?? '';

/** Whether the row is archived, and its status if that is ambiguous. */
export function statusOf(named: Named): { archived: boolean; left_out: FieldError[] } {
  const status = named.get('status');
  if (!status) return { archived: false, left_out: [] };
  const read = readStatus(status.cell, status.guessed);
  if ('archived' in read) return { ...read, left_out: [] };
  // relations, links and comments may have other statuses, which mean nothing here
  const left_out = read.code === 'ambiguous_status' ? [{ field: status.column, ...read }] : [];
  return { archived: false, left_out };
}

/** What a row is converted to, or why it cannot be. */
export interface Converted {
  payload: Record<string, unknown> | null;
  /** Values that are left out. */
  left_out: FieldError[];
  error?: string;
}
const failed = (error: string): Converted => ({ payload: null, left_out: [], error });

/** The description and attributes of a relation. */
export function convertRelation(named: Named, type: RelationType, seesCosts: boolean): Converted {
  const values: RelationValues = {};
  const left_out: FieldError[] = [];
  for (const [target, { column, cell }] of named) {
    if (target !== 'description' && !target.startsWith('attributes.')) continue;
    const errors = setPart(values, type, target, cell, seesCosts);
    left_out.push(...errors.map((error) => ({ ...error, field: column })));
  }
  return { payload: Object.keys(values).length > 0 ? { ...values } : null, left_out };
}

/** A link. @param types the labels of the enabled link types by key. */
export function convertDocument(named: Named, types: ReadonlyMap<string, string>): Converted {
  const url = named.get('url')?.cell;
  if (url === undefined) return failed('has no address: the contents of files are not in the source');
  if (url.length > MAX_URL) return failed(`url: has more than ${MAX_URL} characters`);
  try {
    checkedUrl(url);
  } catch (error) {
    return failed(`url: ${(error as { errors: FieldError[] }).errors[0]!.message}`);
  }
  const name = named.get('name')?.cell ?? url.slice(0, MAX_NAME);
  if (name.length > MAX_NAME) return failed(`name: has more than ${MAX_NAME} characters`);
  const given = named.get('document_type');
  const type =
    given && [...types].find(([key, label]) => [fold(key), fold(label)].includes(fold(given.cell)))?.[0];
  const left_out =
    given && type === undefined
      ? [{ field: given.column, code: 'unknown_option', message: `${quoted(given.cell)} is no link type` }]
      : [];
  return { payload: { name, url, type: type ?? UNTYPED }, left_out };
}

/** The e-mail address of the author of a comment or, with the prefix `reply.`, of the reply to it. */
export function authorOf(named: Named, prefix: '' | 'reply.'): string | undefined {
  return addressesOf(textOf(named, `${prefix}author`))[0];
}

/**
 * A comment or, with the prefix `reply.`, the reply to it; undefined if the row has no reply. Its payload has the content,
 * and the author's `user_id`: if null, the user who applies the migration becomes the author, and the text names the original one.
 * @param users ids by address in lower case.
 */
export function convertComment(
  named: Named,
  prefix: '' | 'reply.',
  users: ReadonlyMap<string, string>,
  now: Date,
): Converted | undefined {
  const text = named.get(`${prefix}content`)?.cell;
  if (text === undefined) return prefix === '' ? failed('content: is missing') : undefined;
  const left_out: FieldError[] = [];
  const day = named.get(`${prefix}created_at`);
  const created = day && timestampOf(day.cell, now);
  if (day && created === undefined) {
    const message = `${quoted(day.cell)} is no date as YYYY-MM-DD that is past`;
    left_out.push({ field: day.column, code: 'bad_date', message });
  }
  const user_id = users.get(authorOf(named, prefix)?.toLowerCase() ?? '') ?? null;
  const by = [textOf(named, `${prefix}author`), created?.slice(0, 10)].filter(Boolean).join(', ');
  const content = user_id === null && by !== '' ? `${by}:\n\n${text}` : text;
  if (content.length > MAX_CONTENT) return failed(`content: has more than ${MAX_CONTENT} characters`);
  return { payload: { content, user_id, created_at: created ?? null }, left_out };
}

/** A date or timestamp as ISO 8601 in UTC; undefined if it is invalid or in the future. */
function timestampOf(cell: string, now: Date): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(cell))
    return undefined;
  const iso = cell.replace(' ', 'T');
  // without a zone it is UTC
  const time = new Date(/T/.test(iso) && !/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso);
  if (Number.isNaN(time.getTime()) || time > now) return undefined;
  // 30 February would be a day of March
  return /T/.test(iso) || time.toISOString().startsWith(cell) ? time.toISOString() : undefined;
}
