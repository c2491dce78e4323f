import type { FieldError } from '../../platform/errors.ts';
import type { CardType, CompiledField } from '../metamodel/metamodel.compile.ts';
import { readBoolean, readDay, readNumber, type Stakeholding } from '../transfer/csv-cells.ts';
import { fold } from './mapping.guess.ts';
import { LEFT_OUT, relationOf } from './mapping.targets.ts';
import type { MappedBlock } from './mapping.ts';
import type { SourceRow } from './source.types.ts';

/** A tag as a cell names it: the group may be told by the column, or by nobody. */
export interface NamedTag {
  group: string | null;
  name: string;
}

/** What the cells of a card name besides its own values. */
export interface CardRefs {
  /** An id, a name, or a name with those above it. */
  parent?: string;
  tags?: NamedTag[];
  holders?: Stakeholding[];
  relations?: { type: string; reversed: boolean; column: string; items: string[] }[];
}

/** A row as a card to be. */
export interface ConvertedRow {
  /** As the import of cards takes it, without what is looked up. */
  payload: Record<string, unknown> & { type: string };
  refs: CardRefs;
  name: string;
  source_id: string;
  /** The name with those above it, in small letters. */
  path: string | null;
  archived: boolean;
  /** Values that stand for nothing here. */
  left_out: FieldError[];
}

const MAX_ITEMS = 1_000;
const MAX_TEXT = 200;

/**
 * Makes a card of a row by its mapping. A value that its field does not take is left out and told of, without the value
 * where costs stand; all else is for the checks of the import.
 */
export function convertRow(
  mapped: MappedBlock & { type: CardType },
  row: SourceRow,
  seesCosts: boolean,
): ConvertedRow {
  const { type, columns } = mapped;
  const attributes: Record<string, unknown> = {};
  const lifecycle: Record<string, string> = {};
  const payload: ConvertedRow['payload'] = { type: type.key };
  const refs: CardRefs = {};
  const left_out: FieldError[] = [];
  let shownName: string | undefined;
  let archived = false;

  for (const [column, cell] of Object.entries(row.cells)) {
    const target = columns.get(column);
    if (target === undefined || target === LEFT_OUT) continue;
    const refuse = (code: string, message: string) => left_out.push({ field: column, code, message });
    const relation = relationOf(target);
    if (relation) {
      refs.relations ??= [];
      refs.relations.push({ ...relation, column, items: itemsOf(cell) });
    } else if (target === 'tags') {
      refs.tags = [...(refs.tags ?? []), ...tagsOf(column, cell)];
    } else if (target.startsWith('stakeholders.')) {
      const role = target.slice('stakeholders.'.length);
      const emails = cell.match(/[^\s;,<>()"]+@[^\s;,<>()"]+/g) ?? [];
      if (emails.length === 0) refuse('bad_stakeholder', 'holds no e-mail address');
      const named = emails.slice(0, MAX_ITEMS).map((email) => ({ role, email }));
      refs.holders = [...(refs.holders ?? []), ...named];
    } else if (target === 'parent') {
      refs.parent = cell;
    } else if (target === 'display_name') {
      shownName = cell;
    } else if (target === 'status') {
      archived = /^(archived|deleted|inactive)$/i.test(cell);
      if (!archived && !/^active$/i.test(cell)) refuse('unknown_option', `${quoted(cell)} is no status`);
    } else if (target === 'subtype') {
      const subtype = type.subtypes.find(
        (one) => fold(one.key) === fold(cell) || fold(one.label) === fold(cell),
      );
      if (subtype) payload.subtype = subtype.key;
      else refuse('unknown_option', `${quoted(cell)} is no subtype of ${type.key}`);
    } else if (target.startsWith('lifecycle.')) {
      const day = readDay(cell.slice(0, 10));
      if (day) lifecycle[target.slice('lifecycle.'.length)] = day;
      else refuse('bad_date', `${quoted(cell)} is no date as YYYY-MM-DD`);
    } else if (target.startsWith('attributes.')) {
      const field = type.fields.get(target.slice('attributes.'.length));
      if (!field) continue;
      if (field.type === 'cost' && !seesCosts) {
        refuse('forbidden', 'needs the permission costs.view');
        continue;
      }
      const value = readValue(field, cell);
      if (value === undefined) refuse(...whyNot(field, cell));
      else attributes[field.key] = value;
    } else {
      payload[target] = cell;
    }
  }

  if (Object.keys(attributes).length > 0) payload.attributes = attributes;
  if (Object.keys(lifecycle).length > 0) payload.lifecycle = lifecycle;
  if (archived) payload.status = 'ARCHIVED';
  const path = shownName === undefined ? null : pathKey(shownName);
  payload.name ??= shownName?.split(' / ').at(-1)?.trim();
  const name = String(payload.name ?? '');
  const source_id = String(payload.external_id ?? shownName ?? name);
  return { payload, refs, name, source_id, path, archived, left_out };
}

/** A name with those above it in the form in which such names are compared. */
export function pathKey(text: string): string {
  return text
    .split('/')
    .map((part) => part.trim())
    .join(' / ')
    .toLowerCase();
}

/** The things that a cell names: a line or a semicolon stands between them. */
function itemsOf(cell: string): string[] {
  const items = cell.split(/[;\n]/).map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ''))].slice(0, MAX_ITEMS);
}

function tagsOf(column: string, cell: string): NamedTag[] {
  const group = /^tags?\s*:\s*(.+)$/i.exec(column)?.[1]?.trim() ?? null;
  return itemsOf(cell).flatMap((item) => {
    if (group !== null) return [{ group, name: item }];
    const parts = /^([^:/]+)[:/](.+)$/.exec(item);
    const [named, name] = [parts?.[1]?.trim(), parts?.[2]?.trim()];
    return [named && name ? { group: named, name } : { group: null, name: item }];
  });
}

function readValue(field: CompiledField, cell: string): unknown {
  switch (field.type) {
    case 'number':
    case 'cost':
      return readNumber(cell);
    case 'boolean':
      return (
        readBoolean(cell) ?? (/^(yes|1)$/i.test(cell) ? true : /^(no|0)$/i.test(cell) ? false : undefined)
      );
    case 'date':
      return readDay(cell.slice(0, 10));
    case 'single_select':
      return optionOf(field, cell);
    case 'multiple_select': {
      const keys = itemsOf(cell).map((item) => optionOf(field, item));
      return keys.includes(undefined) ? undefined : keys;
    }
    default:
      return cell;
  }
}

/** The key of the option that a text means by its key or label. */
function optionOf({ options, optionLabels }: CompiledField, text: string): string | undefined {
  if (options.has(text)) return text;
  const wanted = fold(text);
  return [...options].find((key) => fold(key) === wanted || fold(optionLabels.get(key) ?? '') === wanted);
}

function whyNot(field: CompiledField, cell: string): [code: string, message: string] {
  switch (field.type) {
    case 'cost':
      return ['wrong_type', 'is no number'];
    case 'number':
      return ['wrong_type', `${quoted(cell)} is no number`];
    case 'boolean':
      return ['wrong_type', `${quoted(cell)} is neither true nor false`];
    case 'date':
      return ['bad_date', `${quoted(cell)} is no date as YYYY-MM-DD`];
    default:
      return ['unknown_option', `${quoted(cell)} stands for no option of ${field.key}`];
  }
}

const quoted = (text: string): string => `“${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text}”`;
