import { checkValue } from '../../inventory/cards/rules/values.ts';
import type { CompiledField } from '../../kernel/metamodel/metamodel.compile.ts';
import { fold } from '../../kernel/transfer/columns.ts';
import { readDay, readNumber, readTag, splitValues } from '../../kernel/transfer/csv-cells.ts';
import { readTruth } from '../imports/imports.labels.ts';
import type { SheetLabels } from './source.blocks.ts';

const MAX_ITEMS = 1_000;
const MAX_TEXT = 200;

/** The value of a cell for a field, or the code and message of why it has none. */
export type ReadCell = { value: unknown } | { why: [code: string, message: string] };

/** How the cells of a file are read. */
export interface Reading {
  seesCosts: boolean;
  /** What names types and options in any language of the workspace. */
  labels?: SheetLabels;
}

/** Reads a cell as the value of a field. Errors never contain costs. @param find returns an option by what names it. */
export function readCell(
  field: CompiledField,
  cell: string,
  { seesCosts }: Pick<Reading, 'seesCosts'>,
  find: (text: string) => string | undefined = () => undefined,
): ReadCell {
  if (field.type === 'cost' && !seesCosts) return { why: ['forbidden', 'needs the permission costs.view'] };
  const value = readValue(field, cell, (text) => find(text) ?? optionOf(field, text));
  if (value === undefined) return { why: whyNot(field, cell) };
  const error = checkValue(field, field.key, value);
  if (!error) return { value };
  return { why: [error.code, field.type === 'cost' ? error.message : `${quoted(cell)} ${error.message}`] };
}

/** The items of a cell, separated by semicolons or line breaks. */
export function itemsOf(cell: string): string[] {
  const items = cell.split('\n').flatMap(splitValues);
  return [...new Set(items.filter((item) => item !== ''))].slice(0, MAX_ITEMS);
}

/** The e-mail addresses in a cell; runs in linear time. */
export function addressesOf(cell: string): string[] {
  const words = cell.split(/[\s;,<>()"]+/);
  return words.filter((word) => /^.[^@]*@./s.test(word)).slice(0, MAX_ITEMS);
}

/** A cell's text as messages quote it. */
export const quoted = (text: string): string =>
  `“${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text}”`;

/**
 * Whether a status means archived, or why that is unknown. In a column without a mapping only `archived` itself does:
 * `inactive` may also be a status of the application itself, and archived rows are left out.
 */
export function readStatus(
  cell: string,
  guessed: boolean,
): { archived: boolean } | { code: string; message: string } {
  if (/^archived$/i.test(cell)) return { archived: true };
  if (/^(active|open|resolved)$/i.test(cell)) return { archived: false };
  if (!/^(deleted|inactive)$/i.test(cell)) {
    return { code: 'unknown_option', message: `${quoted(cell)} is no status` };
  }
  if (!guessed) return { archived: true };
  const message = `${quoted(cell)} may mean archived: map the column to status if it does, or leave it out`;
  return { code: 'ambiguous_status', message };
}

function readValue(
  field: CompiledField,
  cell: string,
  option: (text: string) => string | undefined,
): unknown {
  switch (field.type) {
    case 'number':
    case 'cost':
      return readNumber(cell);
    case 'boolean':
      return readTruth(cell) ?? (cell === '1' ? true : cell === '0' ? false : undefined);
    case 'date':
      return readDay(cell.slice(0, 10));
    case 'single_select':
      return option(cell.trim());
    case 'multiple_select': {
      // Some files separate them with commas.
      const keys = itemsOf(cell).flatMap((item) => {
        const whole = option(item);
        return whole === undefined ? item.split(',').map((part) => option(part.trim())) : [whole];
      });
      return keys.includes(undefined) ? undefined : [...new Set(keys)];
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
  if (field.type === 'cost') return ['wrong_type', 'is no number'];
  if (field.type === 'number') return ['wrong_type', `${quoted(cell)} is no number`];
  if (field.type === 'boolean') return ['wrong_type', `${quoted(cell)} is neither true nor false`];
  if (field.type === 'date') return ['bad_date', `${quoted(cell)} is no date as YYYY-MM-DD`];
  return ['unknown_option', `${quoted(cell)} is no option of ${field.key}`];
}

/** A tag as a cell names it; the column or the cell may name the group. */
export interface NamedTag {
  group: string | null;
  name: string;
  /** The meaning of `Group/Tag` if the group exists: the slash may also be a part of a name. */
  perhaps?: { group: string; name: string };
}

/** The tags of a cell as exports write it. */
export const exportedTags = (cell: string): NamedTag[] =>
  splitValues(cell).map((item) => readTag(item) ?? { group: null, name: item });

/** The tags of a cell, of the mapped group, the one that the column names, or none. */
export function tagsOf(mapped: string | undefined, column: string, cell: string): NamedTag[] {
  const group = mapped ?? /^tags?\s*:\s*(.+)$/i.exec(column)?.[1]?.trim() ?? null;
  return itemsOf(cell).map((item) => {
    if (group !== null) return { group, name: item };
    const [, named = '', separator, name = ''] = /^([^:/]+)([:/])(.+)$/.exec(item) ?? [];
    if (named.trim() === '' || name.trim() === '') return { group: null, name: item };
    const parts = { group: named.trim(), name: name.trim() };
    return separator === ':' ? parts : { group: null, name: item, perhaps: parts };
  });
}
