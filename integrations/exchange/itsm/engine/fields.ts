import type {
  FieldMapping,
  Mapping,
  SyncDirection,
  Value,
} from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import type { Agreed, LocalCard, Pair, Path, Side } from './model.types.ts';
import type { FieldOutcome } from './plan.types.ts';

/** A converted value, or why it cannot be converted; `awaitedId`: the card or record that needs a pair first. */
type Transformed = { ok: true; value: Value } | { ok: false; problem: string; awaitedId?: string };

/** The lookups that transforms use. */
export interface TransformContext {
  /** The card of a record; undefined if it has no pair. */
  cardOf: (remoteId: string) => string | undefined;
  /** The record of a card; undefined if it has no pair. */
  recordOf: (cardId: string) => string | undefined;
  /** Whether a card is already an ancestor of its new parent, by the parents of either side. */
  closesCycle?: (cardId: string, parentId: string) => boolean;
  /** Evaluates a formula with `value`, with limits on time and size. @throws Error whose message is shown to the admin. */
  evaluate: (formula: string, value: Value) => Value;
}

const ok = (value: Value): Transformed => ({ ok: true, value: canonical(value) });
const failure = (text: string): Transformed => ({ ok: false, problem: text });
const awaitPair = (text: string, id: Value): Transformed =>
  typeof id === 'string' ? { ok: false, problem: text, awaitedId: id } : failure(text);

const unmapped = (where: string, value: Value): Transformed =>
  value === null ? ok(null) : failure(`the value map of '${where}' has no entry for ${formatValue(value)}`);

const DECIMAL = /^[+-]?\d+(\.\d+)?$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?$/;

function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (!parts) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Converts a remote value to the inventory's form. An empty value is empty on both sides. */
export function toLocal(field: FieldMapping, value: Value, context: TransformContext): Transformed {
  const { transform_type: type, remote_field: remote } = field;
  if (value === null && type !== 'value_map' && type !== 'expression') return ok(null);
  switch (field.transform_type) {
    case 'direct': {
      if (field.transform_config.as !== 'number') return ok(value);
      const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
      return typeof number === 'number'
        ? ok(number)
        : failure(`${formatValue(value)} in '${remote}' is not a number`);
    }
    case 'value_map': {
      const pair = field.transform_config.pairs.find((one) => isEqual(canonical(one.remote), value));
      return pair ? ok(pair.local) : unmapped(remote, value);
    }
    case 'date_format': {
      const text = typeof value === 'string' ? value.trim() : '';
      const day = DATE.test(text) ? text : DATE_TIME.exec(text)?.[1];
      return day !== undefined && isDate(day)
        ? ok(day)
        : failure(`${formatValue(value)} in '${remote}' is not a date`);
    }
    case 'boolean':
      if (field.transform_config.yes.some((one) => isEqual(canonical(one), value))) return ok(true);
      if (field.transform_config.no.some((one) => isEqual(canonical(one), value))) return ok(false);
      return failure(`${formatValue(value)} in '${remote}' is neither true nor false`);
    case 'reference': {
      const card = typeof value === 'string' ? context.cardOf(value) : undefined;
      return card === undefined
        ? awaitPair(`${formatValue(value)} in '${remote}' has no card`, value)
        : ok(card);
    }
    case 'expression':
      return evaluateFormula(field.transform_config.to_local, value, remote, context);
  }
}

/** Converts a value of the inventory to the remote's form. */
export function toRemote(field: FieldMapping, value: Value, context: TransformContext): Transformed {
  const { transform_type: type, card_field: path } = field;
  if (value === null && type !== 'value_map' && type !== 'expression') return ok(null);
  switch (field.transform_type) {
    case 'direct':
      return ok(value);
    case 'value_map': {
      const pair = field.transform_config.pairs.find((one) => isEqual(canonical(one.local), value));
      return pair ? ok(pair.remote) : unmapped(path, value);
    }
    case 'date_format': {
      if (typeof value !== 'string' || !isDate(value))
        return failure(`${formatValue(value)} in '${path}' is not a date`);
      return ok(field.transform_config.remote === 'date' ? value : `${value} 00:00:00`);
    }
    case 'boolean': {
      const { yes, no } = field.transform_config;
      const written = typeof value === 'boolean' ? (value ? yes : no)[0] : undefined;
      return written === undefined
        ? failure(`${formatValue(value)} in '${path}' is neither true nor false`)
        : ok(written);
    }
    case 'reference': {
      if (Array.isArray(value))
        return failure(`'${path}' has ${value.length} cards, but the column can hold only one`);
      const record = typeof value === 'string' ? context.recordOf(value) : undefined;
      return record === undefined ? awaitPair(`the card in '${path}' has no record`, value) : ok(record);
    }
    case 'expression':
      if (field.transform_config.to_remote === null)
        return failure(`'${path}' has no formula for the remote value`);
      return evaluateFormula(field.transform_config.to_remote, value, path, context);
  }
}

function evaluateFormula(
  formula: string,
  value: Value,
  where: string,
  context: TransformContext,
): Transformed {
  try {
    return ok(context.evaluate(formula, value));
  } catch (error) {
    return failure(`the formula of '${where}' failed: ${(error as Error).message}`);
  }
}

/** Converts the values of an object by path; paths whose result is undefined are omitted. */
export const mapValues = <T, U>(
  values: Record<Path, T>,
  convert: (value: T, path: Path) => U | undefined,
): Record<Path, U> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([path, value]) => {
      const converted = convert(value, path);
      return converted === undefined ? [] : [[path, converted]];
    }),
  );

/** The mapped values of a record by card path, in the remote's form. */
export function remoteFields(mapping: Mapping, record: RemoteRecord): Record<Path, Value> {
  return Object.fromEntries(
    mapping.fields.map(({ card_field: path, remote_field: remote }) => [
      path,
      canonical(record.fields[remote]?.value),
    ]),
  );
}

/** The mapped values of a card by path. */
export function localFields(mapping: Mapping, card: LocalCard): Record<Path, Value> {
  return Object.fromEntries(
    mapping.fields.map(({ card_field: path }) => [path, canonical(card.fields[path])]),
  );
}

/** The values of a record or a card in the form of the other side. */
interface ConvertedValues {
  /** By path. */
  fields: Record<Path, Value>;
  /** By path, why a value could not be converted. */
  problems: Record<Path, string>;
  /** By path, the record or card that needs a pair before the value can be converted. */
  awaitedIds: Record<Path, string>;
}

/** Converts the values of a record to the inventory's form. */
export const convertRecord = (mapping: Mapping, record: RemoteRecord, context: TransformContext) =>
  convertValues(mapping, remoteFields(mapping, record), (field, value) => toLocal(field, value, context));

/** Converts the values of a card to the remote's form. */
export const convertCard = (mapping: Mapping, card: LocalCard, context: TransformContext) =>
  convertValues(mapping, localFields(mapping, card), (field, value) => toRemote(field, value, context));

function convertValues(
  { fields }: Mapping,
  values: Record<Path, Value>,
  convert: (field: FieldMapping, value: Value) => Transformed,
): ConvertedValues {
  const result: ConvertedValues = { fields: {}, problems: {}, awaitedIds: {} };
  for (const field of fields) {
    const { card_field: path } = field;
    const converted = convert(field, values[path] ?? null);
    if (converted.ok) result.fields[path] = converted.value;
    else {
      result.problems[path] = converted.problem;
      if (converted.awaitedId !== undefined) result.awaitedIds[path] = converted.awaitedId;
    }
  }
  return result;
}

/** Normalizes a value of an identity field: case, surrounding and repeated blanks are ignored. */
function normalizeIdentity(value: Value): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase() || null;
}

/** The combined values of the identity fields as one key; null unless all of them are filled. */
export function identityKey(fields: readonly FieldMapping[], values: Record<Path, Value>): string | null {
  const parts = fields
    .filter(({ is_identity: identity }) => identity)
    .map(({ card_field: path }) => normalizeIdentity(values[path] ?? null));
  return parts.length === 0 || parts.includes(null) ? null : JSON.stringify(parts);
}

/** One field of a pair, with everything that its comparison depends on. */
export interface FieldState {
  field: FieldMapping;
  /** Undefined if the field was never agreed on. */
  base: Agreed | undefined;
  /** The values of both sides, in canonical form. */
  local: Value;
  remote: Value;
  /** When each side last changed it, in milliseconds by our clock; null if unknown. */
  changedAt: { local: number | null; remote: number | null };
  /** The side whose value an undo has restored: the time of that change is not the age of the value. */
  restoredSide?: Side | undefined;
  /** A user's decision, already checked to be about these values. */
  winner: Side | undefined;
}

/**
 * Three-way merge of one field. Changed on one side: the value is written to the other. Changed on both to different values:
 * the field's rule decides, or it is a conflict. A field without a base that is filled on one side is filled on the other.
 */
export function compareField(
  state: FieldState,
  direction: SyncDirection,
  context: TransformContext,
): FieldOutcome {
  const { field, base, local, remote } = state;
  const hasChanged = base
    ? { local: !isEqual(local, base.local), remote: !isEqual(remote, base.remote) }
    : { local: local !== null, remote: remote !== null };
  if (base && !hasChanged.local && !hasChanged.remote) return { kind: 'same' };
  const converted = { local: toLocal(field, remote, context), remote: toRemote(field, local, context) };
  if (convertsTo(converted.local, local) || convertsTo(converted.remote, remote)) {
    return { kind: 'agree', agreed: { local, remote } };
  }
  const { card_field: path } = field;
  const values = `(here ${formatValue(local)}, remote ${formatValue(remote)})`;
  if (!hasChanged.local || !hasChanged.remote) {
    // a refused value has changed on one side only, and a user can decide for the other one
    const winner = state.winner ?? (hasChanged.remote ? 'remote' : 'local');
    const side = otherSide(winner);
    const where = hasChanged.remote ? 'at the remote' : 'here';
    const why = base ? `'${path}' was changed only ${where}` : `'${path}' is only filled ${where}`;
    return writeOutcome(side, converted[side], direction, why, false);
  }
  const { winner, why } = resolveConflict(state);
  if (winner === undefined) return { kind: 'conflict', reason: `'${path}' ${why} ${values}` };
  const side = otherSide(winner);
  return writeOutcome(side, converted[side], direction, `'${path}' ${why} ${values}`, true);
}

const convertsTo = (conversion: Transformed, value: Value): boolean =>
  conversion.ok && isEqual(conversion.value, value);

function writeOutcome(
  side: Side,
  conversion: Transformed,
  direction: SyncDirection,
  reason: string,
  settled: boolean,
): FieldOutcome {
  if (side === 'remote' && direction === 'pull') {
    return { kind: 'disallowed', reason: `${reason}; the mapping does not write to the remote`, settled };
  }
  if (side === 'local' && direction === 'push') {
    return { kind: 'disallowed', reason: `${reason}; the mapping does not write here`, settled };
  }
  if (!conversion.ok) {
    const { problem, awaitedId } = conversion;
    return {
      kind: 'problem',
      side,
      reason: problem,
      settled,
      ...(awaitedId === undefined ? {} : { awaitedId }),
    };
  }
  return { kind: 'write', side, value: conversion.value, settled, reason };
}

/** The winner of a field that was changed on both sides. Unknown or equal times decide nothing. */
function resolveConflict(state: FieldState): { winner: Side | undefined; why: string } {
  const both = state.base ? 'was changed on both sides' : 'differs and has no base';
  if (state.winner) {
    return { winner: state.winner, why: `${both}; a user chose the ${sideName(state.winner)} value` };
  }
  switch (state.field.direction) {
    case 'remote_leads':
      return { winner: 'remote', why: `${both}; the remote leads` };
    case 'local_leads':
      return { winner: 'local', why: `${both}; the inventory leads` };
    case 'newest_wins': {
      if (state.restoredSide) {
        // the undone run had replaced this value by the newer one of the other side
        const winner = otherSide(state.restoredSide);
        const older = `an undo restored the ${sideName(state.restoredSide)} value`;
        return { winner, why: `${both}; the ${sideName(winner)} change is newer, since ${older}` };
      }
      const { local, remote } = state.changedAt;
      if (local === null || remote === null) {
        return { winner: undefined, why: `${both}, and it is unknown which change is newer` };
      }
      if (local === remote) return { winner: undefined, why: `${both} at the same time` };
      const winner = local > remote ? 'local' : 'remote';
      return { winner, why: `${both}; the ${sideName(winner)} change is newer` };
    }
    case 'manual':
      return { winner: undefined, why: both };
  }
}

/** The opposite side. */
export const otherSide = (side: Side): Side => (side === 'local' ? 'remote' : 'local');

const sideName = (side: Side): string => (side === 'local' ? "inventory's" : "remote's");

const isAgreed = ({ base }: Pair, values: Record<Path, Value>, side: Side): boolean =>
  Object.entries(values).every(
    ([path, value]) => base[path] !== undefined && isEqual(value, base[path][side]),
  );

/**
 * Whether all mapped fields of a record equal the base. This is so after the engine's own writes, which update the base, and
 * after changes of unmapped columns.
 */
export const isRemoteEcho = (mapping: Mapping, pair: Pair, record: RemoteRecord): boolean =>
  isAgreed(pair, remoteFields(mapping, record), 'remote');

/** Whether all mapped fields of a card equal the base. A push that follows the change feed thereby skips the writes of a pull. */
export const isLocalEcho = (mapping: Mapping, pair: Pair, card: LocalCard): boolean =>
  isAgreed(pair, localFields(mapping, card), 'local');

/**
 * Normalizes a value, so that equal values of both sides have the same form: empty values (no value, an empty text, list or
 * object) are null, line ends are `\n`, texts are composed (NFC), `-0` is 0.
 */
export function canonical(value: Value | undefined): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') {
    const text = value.replaceAll('\r\n', '\n').normalize('NFC');
    return text.trim() === '' ? null : text;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(canonical);
  const entries = Object.keys(value)
    .sort()
    .map((key) => [key, canonical(value[key])] as const)
    .filter(([, inner]) => inner !== null);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Whether two canonical values are equal. */
export function isEqual(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return JSON.stringify(left) === JSON.stringify(right);
}

/** A value as part of a message, at most 80 characters. */
export function formatValue(value: Value): string {
  if (value === null) return 'nothing';
  const text = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
