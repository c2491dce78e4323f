import type {
  FieldMapping,
  Mapping,
  SyncDirection,
  Value,
} from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import type { Agreed, LocalCard, Pair, Path, Side } from './model.types.ts';
import type { FieldOutcome } from './plan.types.ts';
import { canonical, same, told } from './values.ts';

/** A value told on the other side, or why it cannot be told there; `awaits`: until this card or record is mapped. */
type Transformed = { ok: true; value: Value } | { ok: false; problem: string; awaits?: string };

/** What transforms need from around them. */
export interface TransformContext {
  /** The card that a remote key is mapped to; undefined for none. */
  cardOf: (remoteId: string) => string | undefined;
  /** The remote key that a card is mapped to; undefined for none. */
  recordOf: (cardId: string) => string | undefined;
  /** Whether a card is above its new parent already, by the parents of either side. */
  makesCircle?: (cardId: string, parentId: string) => boolean;
  /** Runs a formula over `value` within bounds. @throws Error whose message is shown to the admin. */
  evaluate: (formula: string, value: Value) => Value;
}

const ok = (value: Value): Transformed => ({ ok: true, value: canonical(value) });
const problem = (text: string): Transformed => ({ ok: false, problem: text });
const unmapped = (text: string, id: Value): Transformed =>
  typeof id === 'string' ? { ok: false, problem: text, awaits: id } : problem(text);

const DECIMAL = /^[+-]?\d+(\.\d+)?$/;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?$/;

function isDay(text: string): boolean {
  const parts = DAY.exec(text);
  if (!parts) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** What the inventory would hold for a remote value. An empty value is empty on both sides. */
export function toLocal(field: FieldMapping, value: Value, around: TransformContext): Transformed {
  const { transform_type: type, remote_field: remote } = field;
  if (value === null && type !== 'value_map' && type !== 'expression') return ok(null);
  switch (field.transform_type) {
    case 'direct': {
      if (field.transform_config.as !== 'number') return ok(value);
      const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
      return typeof number === 'number' ? ok(number) : problem(`${told(value)} in '${remote}' is no number`);
    }
    case 'value_map': {
      const pair = field.transform_config.pairs.find((one) => same(canonical(one.remote), value));
      if (pair) return ok(pair.local);
      return value === null
        ? ok(null)
        : problem(`the value map of '${remote}' has no entry for ${told(value)}`);
    }
    case 'date_format': {
      const text = typeof value === 'string' ? value.trim() : '';
      const day = DAY.test(text) ? text : MOMENT.exec(text)?.[1];
      return day !== undefined && isDay(day) ? ok(day) : problem(`${told(value)} in '${remote}' is no date`);
    }
    case 'boolean':
      if (field.transform_config.yes.some((one) => same(canonical(one), value))) return ok(true);
      if (field.transform_config.no.some((one) => same(canonical(one), value))) return ok(false);
      return problem(`${told(value)} in '${remote}' is neither yes nor no`);
    case 'reference': {
      const card = typeof value === 'string' ? around.cardOf(value) : undefined;
      return card === undefined
        ? unmapped(`${told(value)} in '${remote}' is mapped to no card`, value)
        : ok(card);
    }
    case 'expression':
      return evaluated(field.transform_config.to_local, value, remote, around);
  }
}

/** What the remote would hold for a value of the inventory. */
export function toRemote(field: FieldMapping, value: Value, around: TransformContext): Transformed {
  const { transform_type: type, card_field: path } = field;
  if (value === null && type !== 'value_map' && type !== 'expression') return ok(null);
  switch (field.transform_type) {
    case 'direct':
      return ok(value);
    case 'value_map': {
      const pair = field.transform_config.pairs.find((one) => same(canonical(one.local), value));
      if (pair) return ok(pair.remote);
      return value === null
        ? ok(null)
        : problem(`the value map of '${path}' has no entry for ${told(value)}`);
    }
    case 'date_format': {
      if (typeof value !== 'string' || !isDay(value))
        return problem(`${told(value)} in '${path}' is no date`);
      return ok(field.transform_config.remote === 'date' ? value : `${value} 00:00:00`);
    }
    case 'boolean': {
      const written =
        value === true
          ? field.transform_config.yes[0]
          : value === false
            ? field.transform_config.no[0]
            : undefined;
      return written === undefined
        ? problem(`${told(value)} in '${path}' is neither yes nor no`)
        : ok(written);
    }
    case 'reference': {
      if (Array.isArray(value))
        return problem(`there are ${value.length} cards in '${path}', and a column holds one`);
      const record = typeof value === 'string' ? around.recordOf(value) : undefined;
      return record === undefined
        ? unmapped(`the card in '${path}' is mapped to no record`, value)
        : ok(record);
    }
    case 'expression':
      if (field.transform_config.to_remote === null)
        return problem(`'${path}' has no formula for the way out`);
      return evaluated(field.transform_config.to_remote, value, path, around);
  }
}

function evaluated(formula: string, value: Value, where: string, around: TransformContext): Transformed {
  try {
    return ok(around.evaluate(formula, value));
  } catch (error) {
    return problem(`the formula of '${where}' failed: ${(error as Error).message}`);
  }
}

/** The mapped fields of a record, by the card's paths and as the remote holds them. */
export function remoteFields(mapping: Mapping, record: RemoteRecord): Record<Path, Value> {
  return Object.fromEntries(
    mapping.fields.map(({ card_field: path, remote_field: remote }) => [
      path,
      canonical(record.fields[remote]?.value),
    ]),
  );
}

/** The mapped fields of a card. */
export function localFields(mapping: Mapping, card: LocalCard): Record<Path, Value> {
  return Object.fromEntries(
    mapping.fields.map(({ card_field: path }) => [path, canonical(card.fields[path])]),
  );
}

/** A record as the inventory would hold it. */
export interface LocalView {
  fields: Record<Path, Value>;
  /** By path, why a value could not be told here. */
  problems: Record<Path, string>;
  /** By path, the record that has to be mapped before its value can be told. */
  awaits: Record<Path, string>;
}

/** Tells a record's values in the inventory's words. */
export function localView(mapping: Mapping, record: RemoteRecord, around: TransformContext): LocalView {
  const view: LocalView = { fields: {}, problems: {}, awaits: {} };
  const values = remoteFields(mapping, record);
  for (const field of mapping.fields) {
    const told = toLocal(field, values[field.card_field] ?? null, around);
    if (told.ok) view.fields[field.card_field] = told.value;
    else {
      view.problems[field.card_field] = told.problem;
      if (told.awaits !== undefined) view.awaits[field.card_field] = told.awaits;
    }
  }
  return view;
}

/** A value as the identity fields compare it: letters' case and blanks around or repeated do not count. */
function folded(value: Value): string | null {
  if (value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase() || null;
}

/** What the identity fields of a thing say together; null unless all of them are filled. */
export function identityKey(fields: readonly FieldMapping[], values: Record<Path, Value>): string | null {
  const parts = fields
    .filter(({ is_identity: identity }) => identity)
    .map(({ card_field: path }) => folded(values[path] ?? null));
  return parts.length === 0 || parts.includes(null) ? null : JSON.stringify(parts);
}

/** One field of a pair, with all that decides about it. */
export interface FieldState {
  field: FieldMapping;
  /** What was last agreed on; undefined when the two have never been compared. */
  base: Agreed | undefined;
  /** As each side holds it, in canonical form. */
  local: Value;
  remote: Value;
  /** When each side last changed it, in milliseconds by one clock; null when that is not known. */
  changedAt: { local: number | null; remote: number | null };
  /** The side whose value an undo has written back: the time of its change is not that of the value. */
  putBack?: Side | undefined;
  /** A person's word, already checked to be about these very values. */
  winner: Side | undefined;
}

/**
 * Compares one field three ways. Moved on one side: it goes to the other. Moved on both to different values: the
 * field's rule settles it, or it is a conflict. A field never agreed on that only one side fills is filled on the other.
 */
export function compareField(
  state: FieldState,
  direction: SyncDirection,
  around: TransformContext,
): FieldOutcome {
  const { field, base, local, remote } = state;
  const moved = base
    ? { local: !same(local, base.local), remote: !same(remote, base.remote) }
    : { local: local !== null, remote: remote !== null };
  if (base && !moved.local && !moved.remote) return { kind: 'same' };
  const ways = { local: toLocal(field, remote, around), remote: toRemote(field, local, around) };
  if (says(ways.local, local) || says(ways.remote, remote)) {
    return { kind: 'agree', agreed: { local, remote } };
  }
  const { card_field: path } = field;
  const names = `(here ${told(local)}, remote ${told(remote)})`;
  if (!moved.local || !moved.remote) {
    // a value that was refused is one that only one side has moved, and a person may prefer the other
    const winner = state.winner ?? (moved.remote ? 'remote' : 'local');
    const side = winner === 'remote' ? 'local' : 'remote';
    const where = moved.remote ? 'at the remote' : 'here';
    const why = base ? `'${path}' was changed ${where} alone` : `'${path}' is only filled ${where}`;
    return write(side, ways[side], direction, why, false);
  }
  const { winner, why } = settle(state);
  if (winner === undefined) return { kind: 'conflict', reason: `'${path}' ${why} ${names}` };
  const side = winner === 'remote' ? 'local' : 'remote';
  return write(side, ways[side], direction, `'${path}' ${why} ${names}`, true);
}

const says = (way: Transformed, value: Value): boolean => way.ok && same(way.value, value);

function write(
  side: Side,
  way: Transformed,
  direction: SyncDirection,
  reason: string,
  settled: boolean,
): FieldOutcome {
  if (side === 'remote' && direction === 'pull') {
    return { kind: 'held', reason: `${reason}; the mapping writes nothing at the remote` };
  }
  if (side === 'local' && direction === 'push') {
    return { kind: 'held', reason: `${reason}; the mapping writes nothing here` };
  }
  if (!way.ok) {
    const { problem, awaits } = way;
    return { kind: 'problem', side, reason: problem, settled, ...(awaits === undefined ? {} : { awaits }) };
  }
  return { kind: 'write', side, value: way.value, settled, reason };
}

/** Who wins a field that was moved on both sides. Times that are unknown or equal decide nothing. */
function settle(state: FieldState): { winner: Side | undefined; why: string } {
  const both = state.base ? 'was changed on both sides' : 'differs and was never agreed on';
  if (state.winner) {
    return { winner: state.winner, why: `${both}; a person chose the ${sideName(state.winner)} value` };
  }
  switch (state.field.direction) {
    case 'remote_leads':
      return { winner: 'remote', why: `${both}; the remote leads` };
    case 'local_leads':
      return { winner: 'local', why: `${both}; the inventory leads` };
    case 'newest_wins': {
      if (state.putBack) {
        // the run that was taken back replaced this value by the newer one of the other side
        const winner = state.putBack === 'local' ? 'remote' : 'local';
        const older = `an undo has written the ${sideName(state.putBack)} value back`;
        return { winner, why: `${both}; the ${sideName(winner)} change is newer, since ${older}` };
      }
      const { local, remote } = state.changedAt;
      if (local === null || remote === null) {
        return { winner: undefined, why: `${both}, and which change is newer is not known` };
      }
      if (local === remote) return { winner: undefined, why: `${both} at the same moment` };
      const winner = local > remote ? 'local' : 'remote';
      return { winner, why: `${both}; the ${sideName(winner)} change is newer` };
    }
    case 'manual':
      return { winner: undefined, why: both };
  }
}

const sideName = (side: Side): string => (side === 'local' ? "inventory's" : "remote's");

/**
 * Whether a record that was read says nothing new: all its mapped fields are as both sides last agreed. That is so for
 * the engine's own writes, which have moved the base, and for changes of what is not mapped.
 */
export function isRemoteEcho(mapping: Mapping, pair: Pair, record: RemoteRecord): boolean {
  const now = remoteFields(mapping, record);
  return mapping.fields.every(({ card_field: path }) => {
    const agreed = pair.base[path];
    return agreed !== undefined && same(now[path] ?? null, agreed.remote);
  });
}

/** The same of a card; with it a push that follows the change feed passes over what a pull has written. */
export function isLocalEcho(mapping: Mapping, pair: Pair, card: LocalCard): boolean {
  const now = localFields(mapping, card);
  return mapping.fields.every(({ card_field: path }) => {
    const agreed = pair.base[path];
    return agreed !== undefined && same(now[path] ?? null, agreed.local);
  });
}
