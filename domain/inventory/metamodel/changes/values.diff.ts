import { embed, fragment, query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { isDay } from '../../../kernel/dates.ts';
import type { Change, RowChanges } from '../../../kernel/events/row-changes.ts';
import type { Fragment } from '../../../kernel/lists/lists.types.ts';
import type { CompiledField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { may } from '../../../kernel/permissions/policy.ts';
import { checkValue } from '../../cards/rules/values.ts';
import type { ChangeRun, Impact } from './changes.types.ts';

export type Fields = ReadonlyMap<string, CompiledField>;

/** The effect of a change of fields on stored values. */
export interface ValueChanges {
  /** Keys of the removed fields. */
  removed: string[];
  retyped: { from: CompiledField; to: CompiledField }[];
  /** Fields that have another key. */
  renamed: { from: string; to: string }[];
  /** Removed options of fields that retain their type. */
  options: { field: string; removed: ReadonlySet<string> }[];
  /** Options that have another key. */
  renamedOptions: RenamedOption[];
}

interface RenamedOption {
  /** The present key of the field, and that after the change. */
  field: string;
  from: string;
  to: string;
}

/** What a change gives another key. */
export type Renames = Pick<ValueChanges, 'renamed' | 'renamedOptions'>;
export const noRenames: Renames = { renamed: [], renamedOptions: [] };

/** The elements of one set that are not in the other. */
export function setDifference<T>(all: ReadonlySet<T>, others: ReadonlySet<T>): Set<T> {
  return new Set([...all].filter((item) => !others.has(item)));
}

/** Compares the fields of a type before and after a change, of which some have got another key. */
export function valueChanges(
  before: Fields,
  after: Fields,
  { renamed, renamedOptions }: Renames = noRenames,
): ValueChanges {
  const changes: ValueChanges = { removed: [], retyped: [], renamed, options: [], renamedOptions };
  for (const from of before.values()) {
    if (renamed.some((one) => one.from === from.key)) continue;
    const to = after.get(from.key);
    if (!to) changes.removed.push(from.key);
    else if (to.type !== from.type) changes.retyped.push({ from, to });
    else {
      const removed = setDifference(from.options, to.options);
      for (const one of renamedOptions) if (one.field === from.key) removed.delete(one.from);
      if (removed.size > 0) changes.options.push({ field: from.key, removed });
    }
  }
  return changes;
}

export function changesNothing(changes: ValueChanges): boolean {
  return Object.values(changes).every((list) => list.length === 0);
}

/** Attributes converted to the changed fields; values that do not fit the new type are omitted. */
export function convertAttributes(
  attributes: Record<string, unknown>,
  { removed, retyped, renamed, options, renamedOptions }: ValueChanges,
): Record<string, unknown> {
  const values = new Map(Object.entries(attributes));
  for (const { field, from, to } of renamedOptions) {
    const value = values.get(field);
    if (value === from) values.set(field, to);
    else if (Array.isArray(value))
      values.set(
        field,
        value.map((option) => (option === from ? to : option)),
      );
  }
  for (const { from, to } of renamed) {
    if (values.has(from)) values.set(to, values.get(from));
    values.delete(from);
  }
  for (const key of removed) values.delete(key);
  for (const { to } of retyped) {
    if (!values.has(to.key)) continue;
    const value = convertValue(to, values.get(to.key));
    if (value === undefined) values.delete(to.key);
    else values.set(to.key, value);
  }
  for (const { field, removed: gone } of options) {
    const value = values.get(field);
    if (typeof value === 'string' && gone.has(value)) values.delete(field);
    if (!Array.isArray(value)) continue;
    const left = value.filter((option) => !gone.has(option));
    if (left.length === 0) values.delete(field);
    else values.set(field, left);
  }
  return Object.fromEntries(values);
}

/** Rows whose `attributes` have values that the changes concern, as a condition over the alias `t`. */
export function touchedRows({ removed, retyped, renamed, options, renamedOptions }: ValueChanges): Fragment {
  const keys = [...removed, ...retyped.map(({ to }) => to.key), ...renamed.map(({ from }) => from)];
  const changed = [...options, ...renamedOptions.map(({ field, from }) => ({ field, removed: [from] }))];
  return changed.reduce(
    (rows, { field, removed: gone }) =>
      fragment`${embed(rows)} or (${embed(hasOption('t.attributes', field, [...gone]))})`,
    fragment`jsonb_exists_any(t.attributes, ${keys}::text[])`,
  );
}

/** Whether the attribute is, or contains, one of the options. */
export const hasOption = (attributes: string, field: string, options: string[]): Fragment =>
  fragment`${embed(attributes)} ->> ${field}::text = any(${options}::text[])
    or jsonb_exists_any(${embed(attributes)} -> ${field}::text, ${options}::text[])`;

/** A number in decimal notation that is parsed without loss of digits. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d{1,6})?$/;
const EXACT_DIGITS = 15;

/** Texts that can be converted to the type without loss. */
function fromText(to: CompiledField, text: string): unknown {
  switch (to.type) {
    case 'text':
    case 'multiline_text':
    case 'url':
      return text;
    case 'number':
    case 'cost': {
      const plain = text.trim();
      const exact = PLAIN_NUMBER.test(plain) && plain.replace(/\D/g, '').length <= EXACT_DIGITS;
      return exact ? Number(plain) : undefined;
    }
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'date':
      return isDay(text.trim()) ? text.trim() : undefined;
    case 'single_select':
      return optionOf(to, text);
    case 'multiple_select': {
      const option = optionOf(to, text);
      return option === undefined ? undefined : [option];
    }
  }
}

/** The option with the key, or else the only one with the label. */
function optionOf(to: CompiledField, text: string): string | undefined {
  if (to.options.has(text)) return text;
  const wanted = text.trim().toLowerCase();
  const labelled = [...to.optionLabels].filter(([, label]) => label.trim().toLowerCase() === wanted);
  return labelled.length === 1 ? labelled[0]![0] : undefined;
}

function converted(to: CompiledField, value: unknown): unknown {
  if (typeof value === 'string') return fromText(to, value);
  if (Array.isArray(value)) {
    if (to.type === 'multiple_select') return value;
    return value.length === 1 && typeof value[0] === 'string' ? fromText(to, value[0]) : undefined;
  }
  const asText = to.type === 'text' || to.type === 'multiline_text';
  if (typeof value === 'number') {
    if (to.type === 'number' || to.type === 'cost') return value;
    return asText ? String(value) : undefined;
  }
  if (typeof value === 'boolean') return to.type === 'boolean' ? value : asText ? String(value) : undefined;
  return undefined;
}

/**
 * A stored value converted to the new type of its field, if that loses nothing: texts that spell the new value, single
 * values as texts, one option as a list. Undefined if it does not fit.
 */
export function convertValue(to: CompiledField, value: unknown): unknown {
  const result = converted(to, value);
  return result !== undefined && checkValue(to, to.key, result) === undefined ? result : undefined;
}

/** A value of a former event as the field stores it now; null if it does not fit any more. */
function presentValue(field: CompiledField, value: unknown): unknown {
  if (value === null) return null;
  if (field.type !== 'multiple_select' || !Array.isArray(value)) return convertValue(field, value) ?? null;
  const known = value.filter((option) => field.options.has(option));
  return known.length === 0 ? null : known;
}

/**
 * The changes of a former event with values that the present type allows: those of removed fields are omitted, removed
 * options and subtypes are null, and values of fields of another type now are converted, as stored values were.
 */
export function presentChanges(
  changes: RowChanges,
  { fields, subtypeKeys }: { fields: Fields; subtypeKeys?: ReadonlySet<string> },
): RowChanges {
  const convertChange = ({ old, new: written }: Change, fitted: (value: unknown) => unknown): Change => ({
    old: fitted(old),
    new: fitted(written),
  });
  return Object.fromEntries(
    Object.entries(changes).flatMap(([name, change]): [string, Change][] => {
      if (name === 'subtype') {
        const known = (key: unknown) => (subtypeKeys?.has(key as string) ? key : null);
        return [[name, convertChange(change, known)]];
      }
      if (!name.startsWith(ATTRIBUTE)) return [[name, change]];
      const field = fields.get(name.slice(ATTRIBUTE.length));
      return field ? [[name, convertChange(change, (value) => presentValue(field, value))]] : [];
    }),
  );
}

const ATTRIBUTE = 'attributes.';

type Measured = Pick<Impact, 'removed_fields' | 'removed_options' | 'changed_fields'>;

/** The table and type of the stored values. */
interface Holder {
  table: 'cards' | 'relations';
  type: string;
}

const EXAMPLES = 20;
const MAX_EXAMPLE = 200;
const CHUNK = 5_000;

/**
 * Counts the rows with values that the changes convert and, in a dry run, those with values that they remove.
 * @throws EstateError `values_do_not_fit`.
 */
export async function measureValues(
  run: ChangeRun,
  holder: Holder,
  changes: ValueChanges,
): Promise<Measured> {
  const measured: Measured = { removed_fields: [], removed_options: [], changed_fields: [] };
  for (const field_key of run.dryRun ? changes.removed : []) {
    const affected = await countRows(run, holder, fragment`jsonb_exists(t.attributes, ${field_key})`);
    measured.removed_fields.push({ field_key, affected });
  }
  for (const { field, removed } of run.dryRun ? changes.options : []) {
    for (const option_key of removed) {
      const affected = await countRows(run, holder, hasOption('t.attributes', field, [option_key]));
      measured.removed_options.push({ field_key: field, option_key, affected });
    }
  }
  for (const retyped of changes.retyped) {
    measured.changed_fields.push(await measureRetyped(run, holder, retyped));
  }
  refuseValueLoss(run, measured);
  return measured;
}

/** The number of cards or relations of the type that match a condition over the alias `t`. */
export async function countRows(
  { work }: Pick<ChangeRun, 'work'>,
  { table, type }: Holder,
  condition: Fragment = fragment`true`,
): Promise<number> {
  return await query(work.sql).value<number>`select count(*) from ${embed(table)} t
    where t.type = ${type} and (${embed(condition)})`;
}

async function measureRetyped(
  { work, ctx }: ChangeRun,
  { table, type }: Holder,
  { from, to }: ValueChanges['retyped'][number],
): Promise<Impact['changed_fields'][number]> {
  const found = { affected: 0, converted: 0, unconvertible: 0 };
  const examples: { id: string; value?: unknown }[] = [];
  const seen = may(ctx.caller, 'inventory.view') && (table === 'cards' || may(ctx.caller, 'relations.view'));
  const shown = from.type !== 'cost' || may(ctx.caller, 'costs.view');
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await query(work.sql).rows`select t.id, t.attributes -> ${from.key}::text as value
      from ${embed(table)} t
       where t.type = ${type} and t.id > ${last}::uuid and jsonb_exists(t.attributes, ${from.key})
       order by t.id limit ${embed(CHUNK)}`;
    for (const { id, value } of rows) {
      found.affected += 1;
      if (convertValue(to, value) !== undefined) found.converted += 1;
      else {
        found.unconvertible += 1;
        if (seen && examples.length < EXAMPLES) {
          examples.push(shown ? { id, value: shortened(value) } : { id });
        }
      }
    }
    if (rows.length < CHUNK) break;
    last = rows.at(-1).id;
  }
  return { field_key: from.key, from: from.type, to: to.type, ...found, examples };
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_EXAMPLE ? `${value.slice(0, MAX_EXAMPLE)}…` : value;
}

/**
 * Refuses a change that would lose values, unless `force` is given.
 * @throws EstateError `values_do_not_fit` with the fields and some of the values.
 */
function refuseValueLoss(run: ChangeRun, { changed_fields }: Pick<Impact, 'changed_fields'>): void {
  const unconvertible = changed_fields.filter((field) => field.unconvertible > 0);
  if (run.force || run.dryRun || unconvertible.length === 0) return;
  const names = unconvertible.map((field) => `${field.field_key} (${field.unconvertible})`).join(', ');
  throw new EstateError(
    'values_do_not_fit',
    `Stored values do not fit the new type of ${names}. Change them, or give them up with force=true.`,
    { extra: { changed_fields: unconvertible } },
  );
}
