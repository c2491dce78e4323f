import type { FieldMapping, Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { counted } from '../../../../platform/counted.ts';
import type { RemoteRecord } from '../remote.ts';
import {
  canonical,
  compareField,
  type FieldState,
  formatValue,
  isEqual,
  localFields,
  remoteFields,
} from './fields.ts';
import type { Agreed, Evidence, LocalCard, Pair, Path, Refusal, Side } from './model.types.ts';
import type { FieldOutcome, PlanRow } from './plan.types.ts';
import { addRow, type Draft, defer, type ObservationIndex, type Planning } from './state.ts';

/** The bases of the paths; null if there is none. */
function baseOf(base: Record<Path, Agreed>, paths: readonly Path[]): Record<Path, Agreed | null> {
  return Object.fromEntries(paths.map((path) => [path, base[path] ?? null]));
}

/** The bases of a pair by mapped field; null if there is none. */
export function mappedBase({ mapping }: Planning, { base }: Pair): Record<Path, Agreed | null> {
  const paths = mapping.fields.map(({ card_field: path }) => path);
  return baseOf(base, paths);
}

/** A pair with the state of its two sides. */
export interface PairView {
  pair: Pair;
  /** The surviving card, which may be archived or deleted. */
  cardId: string;
  /** Undefined if it is archived or deleted. */
  card: LocalCard | undefined;
  recordState: RecordState;
}

/** Adds a row about a pair. */
export const addPairRow = (planning: Planning, { pair, cardId }: PairView, draft: Draft): PlanRow =>
  addRow(planning, { remoteId: pair.remoteId, cardId, ...draft });

/** A pair whose fields are to be compared. */
interface Compared {
  remoteId: string;
  card: LocalCard;
  /** Undefined if the record was not read because it has not changed. */
  record: RemoteRecord | undefined;
  base: Record<Path, Agreed>;
}

interface Field {
  field: FieldMapping;
  local: Value;
  remote: Value;
  outcome: FieldOutcome;
}

/** Compares all fields of a pair. If the record was not read, its values are those of the base. */
export function compareFields(planning: Planning, pair: Compared): Field[] {
  const { mapping, observation, transformContext } = planning;
  const { card, record, base } = pair;
  const locals = localFields(mapping, card);
  const remotes = record && remoteFields(mapping, record);
  const remoteAt = record ? Date.parse(record.updatedAt) - observation.remoteClockAheadMs : Number.NaN;
  return mapping.fields.flatMap((field): Field[] => {
    const { card_field: path } = field;
    if (!remotes && !base[path]) return [];
    const local = locals[path] ?? null;
    const remote = remotes ? (remotes[path] ?? null) : base[path]!.remote;
    const state: FieldState = {
      field,
      base: base[path],
      local,
      remote,
      changedAt: { local: parseTime(card.changedAt?.[path] ?? card.updatedAt), remote: nullIfNaN(remoteAt) },
      restoredSide: observation.restoredValues?.find(
        (one) =>
          one.remoteId === pair.remoteId &&
          one.path === path &&
          isEqual(canonical(one.value), one.side === 'local' ? local : remote),
      )?.side,
      winner: findResolution(planning, pair.remoteId, path, local, remote),
    };
    const outcome = compareField(state, mapping.sync_direction, transformContext);
    return [{ field, local, remote, outcome: blockWrite(planning, pair, { path, local, remote }, outcome) }];
  });
}

/** Blocks the write of a value that was refused before, and of a parent that would close a cycle. */
function blockWrite(
  { observation, transformContext }: Planning,
  { remoteId, card }: Compared,
  { path, local, remote }: { path: Path; local: Value; remote: Value },
  outcome: FieldOutcome,
): FieldOutcome {
  if (outcome.kind !== 'write') return outcome;
  const { side } = outcome;
  const parent = side === 'local' ? outcome.value : local;
  if (path === 'parent_id' && typeof parent === 'string' && transformContext.closesCycle?.(card.id, parent)) {
    const reason = `'${path}' is not written, since the parents of both sides together would form a cycle`;
    return { kind: 'conflict', reason };
  }
  const refusal = observation.refusals?.find(
    (one) => one.side === side && isAbout(one, remoteId, path, { local, remote }),
  );
  return refusal ? { kind: 'refused', side, reason: refusal.reason } : outcome;
}

const isAbout = (
  one: Pick<Refusal, 'remoteId' | 'path' | 'values'>,
  remoteId: string,
  path: Path | null,
  { local, remote }: Refusal['values'],
): boolean =>
  one.remoteId === remoteId &&
  one.path === path &&
  isEqual(one.values.local, local) &&
  isEqual(one.values.remote, remote);

const nullIfNaN = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);

const parseTime = (text: string): number | null => nullIfNaN(Date.parse(text));

/** The winner that a user has chosen for these values. */
export const findResolution = (
  { observation }: Planning,
  remoteId: string,
  path: Path | null,
  local: Value,
  remote: Value,
): Side | undefined =>
  observation.resolutions.find((one) => isAbout(one, remoteId, path, { local, remote }))?.winner;

/** The bases of the fields whose values are equal already. */
export function agreedFields(fields: readonly Field[]): Record<Path, Agreed> {
  return Object.fromEntries(
    fields.flatMap(({ field, outcome }) =>
      outcome.kind === 'agree' ? [[field.card_field, outcome.agreed] as const] : [],
    ),
  );
}

/**
 * Plans the fields of a pair.
 * @param link the row of this plan that creates the pair, if any.
 */
export function planFields(planning: Planning, pair: Compared, fields: Field[], link: PlanRow | null): void {
  const ids = { remoteId: pair.remoteId, cardId: pair.card.id, needs: link?.no ?? null };
  const agreed = agreedFields(fields);
  const paths = Object.keys(agreed);
  if (!link && paths.length > 0) {
    const reason = `both sides have equal values of ${paths.map((path) => `'${path}'`).join(', ')}`;
    const expects = { pair: 'linked' } as const;
    addRow(planning, { ...ids, action: 'agree', reason, expects, agreed, before: baseOf(pair.base, paths) });
  }
  for (const side of ['local', 'remote'] as const) planWrite(planning, pair, fields, side, ids);
  for (const { field, local, remote, outcome } of fields) {
    const { card_field: path } = field;
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') {
      const diff = { [path]: { old: local, new: remote } };
      const refusedBy = outcome.kind === 'refused' ? outcome.side : null;
      addRow(planning, { ...ids, action: 'conflict', reason: outcome.reason, diff, path, refusedBy });
      planning.totals.again.add(pair.remoteId);
    } else if (outcome.kind === 'problem' || outcome.kind === 'disallowed') {
      addRow(planning, { ...ids, action: 'skip', reason: outcome.reason, path });
    }
    if (outcome.kind === 'disallowed' && outcome.settled) planning.totals.notOverwritten.add(pair.remoteId);
    if (outcome.kind !== 'problem') continue;
    const { side, awaitedId, settled } = outcome;
    defer(planning, pair.remoteId, side, awaitedId);
    if (awaitedId === undefined) continue;
    const base = pair.base[path] ?? null;
    const values = { local, remote };
    planning.totals.openReferences.push({ ...ids, side, path, values, base, settled, awaitedId });
  }
}

type Ids = Pick<PlanRow, 'remoteId' | 'cardId' | 'needs'>;

function planWrite(planning: Planning, pair: Compared, fields: Field[], side: Side, ids: Ids): void {
  const row = { diff: {}, agreed: {}, settled: [] } as Pick<PlanRow, 'diff' | 'agreed' | 'settled'>;
  const expected = { local: {} as Record<Path, Value>, remote: {} as Record<Path, Value> };
  const reasons: string[] = [];
  for (const { field, local, remote, outcome } of fields) {
    if (outcome.kind !== 'write' || outcome.side !== side) continue;
    const { card_field: path } = field;
    const { value } = outcome;
    row.diff[path] = { old: side === 'local' ? local : remote, new: value };
    row.agreed[path] = side === 'local' ? { local: value, remote } : { local, remote: value };
    if (outcome.settled) row.settled.push(path);
    expected.local[path] = local;
    expected.remote[path] = remote;
    reasons.push(outcome.reason);
  }
  if (reasons.length === 0) return;
  addRow(planning, {
    ...ids,
    ...row,
    action: 'update',
    side,
    reason: reasons.join('; '),
    expects: {
      pair: 'linked',
      card: { there: true, fields: expected.local },
      ...(side === 'remote' && { record: { there: true, fields: expected.remote } }),
    },
    before: baseOf(pair.base, Object.keys(row.diff)),
  });
}

/** Describes the values of one side that differ from the base. An object that was not read has not changed. */
export function describeChangesSinceBase(
  { mapping }: Planning,
  {
    card,
    record,
    base,
  }: { card: LocalCard | undefined; record: RemoteRecord | undefined; base: Pair['base'] },
  side: Side,
): string[] {
  const local = side === 'local' && card ? localFields(mapping, card) : {};
  const values = side === 'remote' && record ? remoteFields(mapping, record) : local;
  return Object.entries(values).flatMap(([path, now]) => {
    const before = base[path]?.[side] ?? null;
    return isEqual(now, before) ? [] : [`'${path}' from ${formatValue(before)} to ${formatValue(now)}`];
  });
}

/** What a run knows about the record of a pair. */
export type RecordState =
  | { kind: 'there'; record: RemoteRecord }
  /** Not read, because it has not changed. */
  | { kind: 'unread' }
  /** It exists, but no longer matches the filter of the mapping. */
  | { kind: 'out_of_scope' }
  /** A full read did not contain it, which alone does not prove that it is gone. */
  | { kind: 'missing'; absences: number; reason: string }
  /** It is in the table of another class now, which the mapping does not read. */
  | { kind: 'reclassified'; to: string }
  /** `isConfirmed`: a user has decided that its counterpart is removed. */
  | { kind: 'gone'; evidence: Evidence; mergedInto?: string; isConfirmed?: true };

/**
 * The state of a pair's record. It is gone only after a tombstone, a lookup by key, or several full reads without it. A read
 * with a filter proves nothing, since the record may no longer match the filter.
 */
export function recordStateOf(pair: Pair, mapping: Mapping, index: ObservationIndex): RecordState {
  const { remote, records, tombstones } = index;
  const record = records.get(pair.remoteId);
  const tombstone = tombstones.get(pair.remoteId);
  const lookup = remote.lookups.get(pair.remoteId);
  if (lookup?.kind === 'gone' && lookup.reclassified !== undefined)
    return { kind: 'reclassified', to: lookup.reclassified };
  if (lookup?.kind === 'gone' || record?.deleted)
    return gone(lookup && !tombstone ? 'look' : 'tombstone', tombstone);
  if (lookup?.kind === 'there') {
    return mapping.filter_query !== null && !record
      ? { kind: 'out_of_scope' }
      : { kind: 'there', record: lookup.record };
  }
  if (record && !tombstone) return { kind: 'there', record };
  const { absences } = pair;
  const present = remote.shownIds?.has(pair.remoteId);
  if (tombstone && (record || present)) {
    return { kind: 'missing', absences, reason: 'the remote returns it and also reports it as deleted' };
  }
  if (tombstone) return gone('tombstone', tombstone);
  if (remote.kind !== 'complete' || present) return { kind: 'unread' };
  const enough = mapping.complete_reads;
  if (mapping.filter_query !== null || enough === 0) {
    return { kind: 'missing', absences, reason: 'it was not in the full read, which proves nothing' };
  }
  // reading it by key was inconclusive
  const reads = absences + 1;
  if (reads >= enough) return gone('readings', undefined);
  return { kind: 'missing', absences: reads, reason: `it was not in ${counted(reads, 'full read')}` };
}

function gone(evidence: Evidence, tombstone: { mergedInto?: string } | undefined): RecordState {
  return { kind: 'gone', evidence, mergedInto: tombstone?.mergedInto };
}
