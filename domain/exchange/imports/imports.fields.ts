import type { FieldError } from '../../../platform/errors.ts';
import { cleanName } from '../../../platform/storable.ts';
import { isUuid } from '../../../platform/uuid.ts';
import { MAX_DEPTH } from '../../inventory/cards/cards.tree.ts';
import { cardNumberKey } from '../../inventory/cards/rules/numbers.ts';
import {
  checkLine,
  checkText,
  MAX_ALIAS,
  MAX_DESCRIPTION,
  MAX_EXTERNAL_ID,
  MAX_NAME,
} from '../../inventory/cards/rules/values.ts';
import { MAX_AMOUNT, MAX_COST_DESCRIPTION } from '../../inventory/costs/costs.model.ts';
import { directions, MAX_FLOW_DESCRIPTION } from '../../inventory/data-flows/data-flows.model.ts';
import { unknownChoice } from '../../kernel/choices.ts';
import type { CardColumn, CostColumn, FlowColumn, RelationColumn } from '../../kernel/transfer/columns.ts';
import {
  readDay,
  readNumber,
  readStakeholding,
  readTag,
  splitPath,
  splitValues,
} from '../../kernel/transfer/csv-cells.ts';
import { badDate, type ImportKind, type ImportRow, type ReadOptions } from './imports.row.ts';

/** How one field of a row is parsed; a reader adds its errors and then returns nothing. */
export type FieldReader =
  | {
      list?: undefined;
      clears: boolean;
      read: (text: string, field: string, errors: FieldError[]) => unknown;
    }
  | {
      /** The form of several items in one cell. */
      list: (cell: string) => string[];
      clears: boolean;
      read: (items: string[], field: string, errors: FieldError[]) => unknown;
    };

const MAX_KEY = 100;

const id: FieldReader = {
  clears: false,
  read(text, field, errors) {
    if (isUuid(text.trim())) return text.trim().toLowerCase();
    errors.push({ field, code: 'bad_id', message: 'is not a UUID' });
  },
};

const cardNumber: FieldReader = {
  clears: false,
  read(text, field, errors) {
    if (cardNumberKey(text) !== undefined) return text.trim();
    errors.push({ field, code: 'bad_card_number', message: 'is no number of a card, such as APP-00042' });
  },
};

/** A text that a check accepts, trimmed unless it is `verbatim`. */
const text = (
  check: (field: string, given: string) => FieldError | undefined,
  { clears, verbatim = false }: { clears: boolean; verbatim?: boolean },
): FieldReader => ({
  clears,
  read(given, field, errors) {
    const error = check(field, given);
    if (error) errors.push(error);
    else return verbatim ? given : cleanName(given);
  },
});

const line = (max: number, clears: boolean, verbatim = false): FieldReader =>
  text((field, given) => checkLine(field, given.trim(), max), { clears, verbatim });

/** A name as in the file; it is trimmed when it is stored. */
const name = (max: number): FieldReader => line(max, true, true);

const description = text((field, given) => checkText(field, given, MAX_DESCRIPTION), {
  clears: true,
  verbatim: true,
});

function oneOf(...values: string[]): FieldReader {
  return {
    clears: false,
    read(text, field, errors) {
      if (values.includes(text.trim())) return text.trim();
      const error = { field, code: 'unknown_option', message: `is none of ${values.join(', ')}` };
      errors.push(unknownChoice(error, text.trim(), values));
    },
  };
}

function listOf<T>(parse: (item: string) => T | undefined, code: string, form: string): FieldReader {
  return {
    list: splitValues,
    clears: true,
    read(items, field, errors) {
      const values = items.map(parse);
      if (!values.includes(undefined)) return values;
      errors.push({ field, code, message: `is not a list of ${form} with ; between them` });
    },
  };
}

const path: FieldReader = {
  list: splitPath,
  clears: false,
  read(items, field, errors) {
    if (items.length <= MAX_DEPTH) return items.length > 0 ? items : undefined;
    errors.push({ field, code: 'too_deep', message: `has more than ${MAX_DEPTH} steps` });
  },
};

const cardFields: Record<CardColumn, FieldReader> = {
  id,
  number: cardNumber,
  type: line(MAX_KEY, false),
  subtype: line(MAX_KEY, true),
  external_id: line(MAX_EXTERNAL_ID, true),
  name: name(MAX_NAME),
  alias: name(MAX_ALIAS),
  description,
  parent_id: id,
  parent_number: cardNumber,
  parent_external_id: line(MAX_EXTERNAL_ID, false),
  parent_path: path,
  status: oneOf('ACTIVE', 'ARCHIVED'),
  approval_status: oneOf('DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'),
  tags: listOf(readTag, 'bad_tag', 'Group/Tag'),
  stakeholders: listOf(readStakeholding, 'bad_stakeholder', 'role:email'),
};

const relationFields: Record<RelationColumn, FieldReader> = {
  id,
  type: line(MAX_KEY, false),
  source_id: id,
  source_number: cardNumber,
  source_external_id: line(MAX_EXTERNAL_ID, false),
  target_id: id,
  target_number: cardNumber,
  target_external_id: line(MAX_EXTERNAL_ID, false),
  description,
};

const day: FieldReader = {
  clears: false,
  read(text, field, errors) {
    const read = readDay(text);
    if (read === undefined) errors.push({ field, ...badDate });
    return read;
  },
};

const amount: FieldReader = {
  clears: false,
  read(text, field, errors) {
    const read = readNumber(text);
    if (read !== undefined && Math.abs(read) <= MAX_AMOUNT) return read;
    const message = `is not a number from -${MAX_AMOUNT} to ${MAX_AMOUNT}`;
    errors.push({ field, code: 'bad_number', message });
  },
};

const costFields: Record<CostColumn, FieldReader> = {
  id,
  external_id: line(MAX_EXTERNAL_ID, true),
  card_id: id,
  card_number: cardNumber,
  card_type: line(MAX_KEY, false),
  card_external_id: line(MAX_EXTERNAL_ID, false),
  card_name: line(MAX_NAME, false),
  relation_id: id,
  kind: line(MAX_KEY, false),
  period_start: day,
  period_end: day,
  amount,
  currency: line(3, false),
  description: text((field, given) => checkText(field, given, MAX_COST_DESCRIPTION), { clears: true }),
};

/** The members of a row of costs that name its card or relation. */
const ownerFields: readonly CostColumn[] = ['card_id', 'card_external_id', 'card_name', 'relation_id'];
/** The members that a new cost needs besides. */
const costMembers: readonly CostColumn[] = ['kind', 'period_start', 'period_end', 'amount'];

/** The first member that a row of costs lacks to create one. */
export function missingOf(values: Record<string, unknown>): string | undefined {
  if (ownerFields.every((field) => values[field] === undefined)) return ownerFields[0];
  return costMembers.find((field) => values[field] === undefined);
}

const endFields = <E extends string>(end: E) =>
  ({
    [`${end}_id`]: id,
    [`${end}_number`]: cardNumber,
    [`${end}_type`]: line(MAX_KEY, false),
    [`${end}_external_id`]: line(MAX_EXTERNAL_ID, false),
    [`${end}_name`]: line(MAX_NAME, false),
  }) as Record<`${E}_${'id' | 'number' | 'type' | 'external_id' | 'name'}`, FieldReader>;
const clearable = (reader: FieldReader): FieldReader => ({ ...reader, clears: true });
const named = (max: number, form: string) =>
  listOf((item) => (checkLine('', item.trim(), max) ? undefined : cleanName(item)), 'bad_list', form);

const flowFields: Record<FlowColumn, FieldReader> = {
  id,
  external_id: line(MAX_EXTERNAL_ID, true),
  ...endFields('source'),
  ...endFields('target'),
  interface_id: clearable(id),
  interface_number: cardNumber,
  interface_external_id: line(MAX_EXTERNAL_ID, true),
  interface_name: line(MAX_NAME, true),
  data_object_ids: listOf(
    (item) => (isUuid(item.trim()) ? item.trim().toLowerCase() : undefined),
    'bad_id',
    'UUIDs',
  ),
  data_object_external_ids: named(MAX_EXTERNAL_ID, 'external ids'),
  data_object_names: named(MAX_NAME, 'names'),
  direction: oneOf(...directions),
  frequency: line(MAX_KEY, true),
  description: text((field, given) => checkText(field, given, MAX_FLOW_DESCRIPTION), { clears: true }),
};

/** The readers of the built-in fields of a kind, by name; attributes and lifecycle phases are read by their types. */
export const fieldReaders: Record<ImportKind, Readonly<Record<string, FieldReader>>> = {
  cards: cardFields,
  relations: relationFields,
  costs: costFields,
  data_flows: flowFields,
};

/** The members of a card's row that name its parent; the card becomes a root if all are cleared. */
export const parentFields: readonly CardColumn[] = [
  'parent_id',
  'parent_number',
  'parent_external_id',
  'parent_path',
];

/** A row during parsing. */
export interface Draft {
  line: number;
  values: Record<string, unknown>;
  errors: FieldError[];
}

/** A row without values. */
export const newDraft = (line: number): Draft => ({ line, values: {}, errors: [] });

/** Sets a lifecycle phase or an attribute, or clears it with null. */
export function setMember(row: Draft, part: 'lifecycle' | 'attributes', key: string, value: unknown): void {
  row.values[part] ??= {};
  (row.values[part] as Record<string, unknown>)[key] = value;
}

/** The type of the row's card or relation, if it is known. */
export const typeOf = (row: Draft): string | undefined => row.values.type as string | undefined;

/** The present key of an attribute that a file may name by a former one. */
export const presentKeyOf = (
  row: Draft,
  key: string,
  { presentKey }: Pick<ReadOptions, 'presentKey'>,
): string => presentKey?.(typeOf(row), key) ?? key;

/** Whether a row names a renamed attribute by a former key, and also by another one of the keys. */
export function isNamedTwice(
  row: Draft,
  key: string,
  keys: readonly string[],
  options: Pick<ReadOptions, 'presentKey'>,
): boolean {
  const present = presentKeyOf(row, key, options);
  return present !== key && keys.some((one) => one !== key && presentKeyOf(row, one, options) === present);
}

export const repeatedField = (field: string): FieldError => ({
  field,
  code: 'repeated_field',
  message: 'is a former key of a field that the row names by another key, too',
});

/**
 * The parsed row.
 * @param noParent whether the row clears the parent.
 */
export function finishRow<K extends ImportKind>(row: Draft, kind: K, noParent: boolean): ImportRow<K> {
  const hasError = (...fields: string[]) => row.errors.some(({ field }) => fields.includes(field));
  const given = (...fields: string[]) =>
    fields.some((field) => row.values[field] !== undefined) || hasError(...fields);
  if (noParent && !given(...parentFields)) row.values.parent_id = null;
  const need = (...fields: string[]) => {
    if (given(...fields)) return;
    row.errors.push({ field: fields[0]!, code: 'required', message: 'is needed in a row without an id' });
  };
  if (!given('id', 'number') && (kind === 'cards' || kind === 'relations')) {
    need('type');
    if (kind === 'relations') {
      need('source_external_id', 'source_id', 'source_number');
      need('target_external_id', 'target_id', 'target_number');
    }
  }
  return { line: row.line, kind, values: row.values, errors: row.errors };
}

/** A row that could not be parsed. */
export function failedRow<K extends ImportKind>(line: number, kind: K, error: FieldError): ImportRow<K> {
  return { line, kind, values: {}, errors: [error] };
}
