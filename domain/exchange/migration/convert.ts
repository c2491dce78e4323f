import type { FieldError } from '../../../platform/errors.ts';
import type { CardType, Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { readDay, type Stakeholding } from '../../kernel/transfer/csv-cells.ts';
import { addressesOf, itemsOf, quoted, readCell, readStatus } from './convert.values.ts';
import { fold } from './fold.ts';
import { isTags, LEFT_OUT, relationOf, tagGroupOf } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import type { SourceRow } from './source.types.ts';

/** A tag as a cell names it; the column or the cell may name the group. */
export interface NamedTag {
  group: string | null;
  name: string;
  /** The meaning of `Group/Tag` if the group exists: the slash may also be a part of a name. */
  perhaps?: { group: string; name: string };
}

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
export interface RelationValues {
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
interface Converting {
  mapped: MappedBlock & { type: CardType };
  seesCosts: boolean;
  payload: ConvertedRow['payload'];
  attributes: Record<string, unknown>;
  lifecycle: Record<string, string>;
  refs: CardRefs;
  parts: RelationPart[];
  shownName: string | undefined;
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
  seesCosts: boolean,
  relationTypes: Metamodel['relationTypes'] = new Map(),
): ConvertedRow {
  const converting: Converting = {
    mapped,
    seesCosts,
    payload: { type: mapped.type.key },
    attributes: {},
    lifecycle: {},
    refs: {},
    parts: [],
    shownName: undefined,
    archived: false,
    left_out: [],
  };
  for (const [column, cell] of Object.entries(row.cells)) {
    const target = mapped.columns.get(column);
    if (target === undefined || target === LEFT_OUT) continue;
    if (!convertReference(converting, target, column, cell)) convertValue(converting, target, column, cell);
  }
  const { payload, attributes, lifecycle, refs, parts, shownName, archived, left_out } = converting;
  left_out.push(...readParts(refs.relations ?? [], parts, relationTypes, seesCosts));
  if (refs.holders) refs.holders = distinct(refs.holders);
  if (Object.keys(attributes).length > 0) payload.attributes = attributes;
  if (Object.keys(lifecycle).length > 0) payload.lifecycle = lifecycle;
  if (archived) payload.status = 'ARCHIVED';
  const path = shownName === undefined ? null : pathKey(shownName);
  payload.name ??= shownName?.split(' / ').at(-1)?.trim();
  const name = String(payload.name ?? '');
  const source_id = String(payload.external_id ?? shownName ?? name);
  return { payload, refs, name, source_id, path, archived, left_out };
}

/** Converts a cell that refers to something else. @returns whether the target is a reference. */
function convertReference(
  { refs, parts, left_out }: Converting,
  target: string,
  column: string,
  cell: string,
): boolean {
  const relation = relationOf(target);
  if (relation?.part !== undefined) parts.push({ ...relation, part: relation.part, column, cell });
  else if (relation) {
    refs.relations = [...(refs.relations ?? []), { ...relation, column, items: itemsOf(cell) }];
  } else if (isTags(target)) {
    refs.tags = [...(refs.tags ?? []), ...tagsOf(tagGroupOf(target), column, cell)];
  } else if (target.startsWith('stakeholders.')) {
    const role = target.slice('stakeholders.'.length);
    const named = addressesOf(cell).map((email) => ({ role, email }));
    if (named.length === 0)
      left_out.push({ field: column, code: 'bad_stakeholder', message: 'contains no e-mail address' });
    refs.holders = [...(refs.holders ?? []), ...named];
  } else if (target === 'parent') refs.parent = cell;
  else return false;
  return true;
}

/** Converts a cell that holds a value of the card itself. */
function convertValue(converting: Converting, target: string, column: string, cell: string): void {
  const { mapped, seesCosts, payload, attributes, lifecycle, left_out } = converting;
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
    const subtype = type.subtypes.find((one) => fold(one.key) === wanted || fold(one.label) === wanted);
    if (subtype) payload.subtype = subtype.key;
    else refuse('unknown_option', `${quoted(cell)} is no subtype of ${type.key}`);
  } else if (group === 'lifecycle') {
    const day = readDay(cell.slice(0, 10));
    if (day) lifecycle[key] = day;
    else refuse('bad_date', `${quoted(cell)} is no date as YYYY-MM-DD`);
  } else if (group === 'attributes') {
    const field = type.fields.get(key);
    if (!field) return;
    const read = readCell(field, cell, seesCosts);
    if ('why' in read) refuse(...read.why);
    else attributes[field.key] = read.value;
  } else payload[target] = cell;
}

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
  seesCosts: boolean,
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
    return setPart(one.values, type, part, cell, seesCosts).map((fault) => ({ ...fault, field: column }));
  });
}

/** Sets `description` or `attributes.<key>` of a relation from a cell. @returns why it was left out, if it was. */
export function setPart(
  values: RelationValues,
  { fields }: RelationType,
  part: string,
  cell: string,
  seesCosts: boolean,
): Omit<FieldError, 'field'>[] {
  if (part === 'description') {
    values.description = cell;
    return [];
  }
  const field = fields.get(part.slice('attributes.'.length));
  if (!field) return [{ code: 'unknown_field', message: 'is no field of the relation' }];
  const read = readCell(field, cell, seesCosts);
  if ('why' in read) return [{ code: read.why[0], message: read.why[1] }];
  values.attributes = { ...values.attributes, [field.key]: read.value };
  return [];
}

/** Each role of each person once: a snapshot may contain it by its name and by its kind. */
function distinct(holders: Stakeholding[]): Stakeholding[] {
  return [...new Map(holders.map((one) => [`${one.role} ${one.email.toLowerCase()}`, one])).values()];
}

function tagsOf(mapped: string | undefined, column: string, cell: string): NamedTag[] {
  const group = mapped ?? /^tags?\s*:\s*(.+)$/i.exec(column)?.[1]?.trim() ?? null;
  return itemsOf(cell).map((item) => {
    if (group !== null) return { group, name: item };
    const [, named = '', separator, name = ''] = /^([^:/]+)([:/])(.+)$/.exec(item) ?? [];
    if (named.trim() === '' || name.trim() === '') return { group: null, name: item };
    const parts = { group: named.trim(), name: name.trim() };
    return separator === ':' ? parts : { group: null, name: item, perhaps: parts };
  });
}
