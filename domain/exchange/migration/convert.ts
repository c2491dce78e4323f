import type { FieldError } from '../../../platform/errors.ts';
import { checkedUrl } from '../../collaboration/documents/documents.ts';
import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { fold } from '../../kernel/transfer/columns.ts';
import {
  readDay,
  readStakeholding,
  type Stakeholding,
  splitPath,
  splitValues,
} from '../../kernel/transfer/csv-cells.ts';
import {
  addressesOf,
  exportedTags,
  itemsOf,
  type NamedTag,
  quoted,
  type Reading,
  readCell,
  readStatus,
  tagsOf,
} from './convert.values.ts';
import { roleOf } from './mapping.guess.ts';
import { isTags, LEFT_OUT, relationOf, tagGroupOf } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import type { SourceRow } from './source.types.ts';

/** Relations whose other ends are named in a cell. */
interface NamedRelation {
  type: string;
  reversed: boolean;
  column: string;
  items: string[];
  /** The type of the only relation that the row names. */
  values?: RelationValues;
}

/** The values of a relation. */
interface RelationValues {
  description?: string;
  attributes?: Record<string, unknown>;
}

/** What a card refers to. */
export interface CardRefs {
  /** An id, a name, or a name with the names of all parents. */
  parent?: string;
  tags?: NamedTag[];
  holders?: Stakeholding[];
  relations?: NamedRelation[];
}

/** A row converted to a card. */
export interface ConvertedRow {
  /** In the form of the import of cards, without references. */
  payload: Record<string, unknown> & { type: string };
  refs: CardRefs;
  name: string;
  source_id: string;
  /** The name with the names of all parents, in lower case. */
  path: string | null;
  archived: boolean;
  /** Values that are left out. */
  left_out: FieldError[];
}

/** A row while it is converted. */
interface Converting extends Reading {
  mapped: MappedBlock & { type: CardType };
  payload: ConvertedRow['payload'];
  attributes: Record<string, unknown>;
  lifecycle: Record<string, string>;
  refs: CardRefs;
  parts: RelationPart[];
  shownName: string | undefined;
  /** The id by which other rows refer to the card, if it is not its external id. */
  sourceId: string | undefined;
  /** The names of the parents in an export. */
  parents: string[];
  archived: boolean;
  left_out: FieldError[];
}

/**
 * Converts a row to a card by its mapping. A value that its field does not accept is left out and reported, costs without
 * the value; everything else is validated by the import.
 */
export function convertRow(
  mapped: MappedBlock & { type: CardType },
  row: SourceRow,
  reading: Reading & { relationTypes?: Metamodel['relationTypes'] },
): ConvertedRow {
  const { relationTypes = new Map(), seesCosts, labels } = reading;
  const converting: Converting = {
    ...{ mapped, seesCosts, labels },
    payload: { type: mapped.type.key },
    attributes: {},
    lifecycle: {},
    refs: {},
    parts: [],
    shownName: undefined,
    sourceId: undefined,
    parents: [],
    archived: false,
    left_out: [],
  };
  for (const [column, cell] of Object.entries(row.cells)) {
    const target = mapped.columns.get(column);
    if (target === undefined || target === LEFT_OUT) continue;
    if (!convertReference(converting, target, column, cell)) convertValue(converting, target, column, cell);
  }
  const { payload, attributes, lifecycle, refs, parts, shownName, sourceId, parents, archived, left_out } =
    converting;
  left_out.push(...readParts(refs.relations ?? [], parts, relationTypes, reading));
  if (refs.holders) refs.holders = distinct(refs.holders);
  if (Object.keys(attributes).length > 0) payload.attributes = attributes;
  if (Object.keys(lifecycle).length > 0) payload.lifecycle = lifecycle;
  if (archived) payload.status = 'ARCHIVED';
  payload.name ??= shownName?.split(' / ').at(-1)?.trim();
  const name = String(payload.name ?? '');
  const whole = mapped.block.own ? [...parents, name].join(' / ') : shownName;
  const path = whole === undefined ? null : pathKey(whole);
  const source_id = String(sourceId ?? payload.external_id ?? shownName ?? name);
  return { payload, refs, name, source_id, path, archived, left_out };
}

/** Converts a cell that refers to something else. @returns whether the target is a reference. */
function convertReference(converting: Converting, target: string, column: string, cell: string): boolean {
  const { refs, parts, left_out, mapped } = converting;
  const { own } = mapped.block;
  const relation = relationOf(target);
  if (relation?.part !== undefined) parts.push({ ...relation, part: relation.part, column, cell });
  else if (relation) {
    refs.relations = [...(refs.relations ?? []), { ...relation, column, items: itemsOf(cell) }];
  } else if (isTags(target)) {
    refs.tags = [
      ...(refs.tags ?? []),
      ...(own ? exportedTags(cell) : tagsOf(tagGroupOf(target), column, cell)),
    ];
  } else if (target === 'stakeholders') {
    refs.holders = [...(refs.holders ?? []), ...holdersOf(converting, column, cell)];
  } else if (target.startsWith('stakeholders.')) {
    const role = target.slice('stakeholders.'.length);
    const named = addressesOf(cell).map((email) => ({ role, email }));
    if (named.length === 0)
      left_out.push({ field: column, code: 'bad_stakeholder', message: 'contains no e-mail address' });
    refs.holders = [...(refs.holders ?? []), ...named];
  } else if (target === 'parent') {
    const parents = own && column === 'parent_path' ? splitPath(cell) : undefined;
    if (parents) converting.parents = parents;
    refs.parent ??= parents?.join(' / ') ?? cell;
  } else if (target === 'source_id') converting.sourceId = cell;
  else return false;
  return true;
}

/** The people of a cell with their roles; roles that the type has not are left out. */
function holdersOf({ mapped, left_out }: Converting, column: string, cell: string): Stakeholding[] {
  return splitValues(cell).flatMap((item) => {
    const holder = readStakeholding(item);
    const role = holder && roleOf(mapped.type, holder.role);
    if (role) return [{ ...holder, role }];
    const code = holder ? 'unknown_role' : 'bad_stakeholder';
    const message = holder ? `${quoted(holder.role)} is no role on it` : 'is no list of role:email';
    left_out.push({ field: column, code, message });
    return [];
  });
}

/** Converts a cell that holds a value of the card itself. */
function convertValue(converting: Converting, target: string, column: string, cell: string): void {
  const { mapped, labels, payload, attributes, lifecycle, left_out } = converting;
  const { type } = mapped;
  const refuse = (code: string, message: string) => left_out.push({ field: column, code, message });
  const [group, key = ''] = target.split(/\.(.*)/s);
  if (target === 'display_name') converting.shownName = cell;
  else if (target === 'status') {
    const status = readStatus(cell, mapped.guessed.has(column));
    if ('archived' in status) converting.archived = status.archived;
    else refuse(status.code, status.message);
  } else if (target === 'subtype') {
    const wanted = fold(cell);
    const subtype =
      labels?.cards.subtype(type.key, cell) ??
      type.subtypes.find((one) => fold(one.key) === wanted || fold(one.label) === wanted)?.key;
    if (subtype) payload.subtype = subtype;
    else refuse('unknown_option', `${quoted(cell)} is no subtype of ${type.key}`);
  } else if (group === 'lifecycle') {
    const day = readDay(cell.slice(0, 10));
    if (day) lifecycle[key] = day;
    else refuse('bad_date', `${quoted(cell)} is no date as YYYY-MM-DD`);
  } else if (group === 'attributes') {
    const field = type.fields.get(key);
    if (!field) return;
    const read = readCell(field, cell, converting, (text) => labels?.cards.option(type.key, key, text));
    if ('why' in read) refuse(...read.why);
    else attributes[field.key] = read.value;
  } else if (target === 'approval_status' && !approvals.includes(cell)) {
    refuse('unknown_option', `${quoted(cell)} is no approval`);
  } else payload[target] = cell;
}

const approvals = ['DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'];

/** A name with the names of all parents, normalised for comparison. */
export function pathKey(text: string): string {
  return text
    .split('/')
    .map((part) => part.trim())
    .join(' / ')
    .toLowerCase();
}

/** A value of a relation in its own cell. */
interface RelationPart {
  type: string;
  reversed: boolean;
  part: string;
  column: string;
  cell: string;
}

/** Sets the values of the one relation that the row names. @returns the values that are left out. */
function readParts(
  relations: NamedRelation[],
  parts: readonly RelationPart[],
  relationTypes: Metamodel['relationTypes'],
  reading: Reading,
): FieldError[] {
  return parts.flatMap(({ type: key, reversed, part, column, cell }) => {
    const type = relationTypes.get(key);
    const named = relations.filter((one) => one.type === key && one.reversed === reversed);
    const count = new Set(named.flatMap(({ items }) => items)).size;
    if (!type || count !== 1) {
      const message = count === 0 ? 'the row names no such relation' : 'the row names several such relations';
      return [{ field: column, code: 'which_relation', message }];
    }
    const one = named.find(({ items }) => items.length === 1)!;
    one.values ??= {};
    return setPart(one.values, type, part, cell, reading).map((error) => ({ ...error, field: column }));
  });
}

/** Sets `description` or `attributes.<key>` of a relation from a cell. @returns why it was left out, if it was. */
function setPart(
  values: RelationValues,
  { key: type, fields }: RelationType,
  part: string,
  cell: string,
  reading: Reading,
): Omit<FieldError, 'field'>[] {
  if (part === 'description') {
    values.description = cell;
    return [];
  }
  const field = fields.get(part.slice('attributes.'.length));
  if (!field) return [{ code: 'unknown_field', message: 'is no field of the relation' }];
  const option = (text: string) => reading.labels?.relations.option(type, field.key, text);
  const read = readCell(field, cell, reading, option);
  if ('why' in read) return [{ code: read.why[0], message: read.why[1] }];
  values.attributes = { ...values.attributes, [field.key]: read.value };
  return [];
}

/** Each role of each person once: a snapshot may contain it by its name and by its kind. */
function distinct(holders: Stakeholding[]): Stakeholding[] {
  return [...new Map(holders.map((one) => [`${one.role} ${one.email.toLowerCase()}`, one])).values()];
}

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
export function convertRelation(named: Named, type: RelationType, reading: Reading): Converted {
  const values: RelationValues = {};
  const left_out: FieldError[] = [];
  for (const [target, { column, cell }] of named) {
    if (target !== 'description' && !target.startsWith('attributes.')) continue;
    const errors = setPart(values, type, target, cell, reading);
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
