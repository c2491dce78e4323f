import type { FieldMapping, Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import { compareField, type FieldState, localFields, remoteFields, type TransformContext } from './fields.ts';
import type { Agreed, LocalCard, Observation, Pair, Path, Side, SyncState } from './model.types.ts';
import type { FieldOutcome, PlanRow } from './plan.types.ts';
import {
  type Identities,
  identities,
  indexReading,
  isReportedGone,
  type ReadingIndex,
  redirected,
  unmappedCards,
} from './state.ts';
import { canonical, same, told } from './values.ts';

/** A plan in the making. */
export interface Planning {
  mapping: Mapping;
  syncState: SyncState;
  seen: Observation;
  index: ReadingIndex;
  identities: Identities;
  /** All pairs, live or not, by the card they are about today. */
  pairsOf: ReadonlyMap<string, Pair[]>;
  /** Cards that a person took out of the synchronisation. */
  apart: ReadonlySet<string>;
  /** Cards that belong to a record which is back, or may be: no other record is linked to them or made for them. */
  reserved: Set<string>;
  around: TransformContext;
  rows: PlanRow[];
  /** The number of the first row: rows of a plan made in parts are counted through. */
  firstNo: number;
  /** Records to read again next time. */
  again: Set<string>;
  /** Records with values that cannot be told on the other side: known, and judged again once something has changed. */
  waits: DeferredWaits;
  /** The same values, field by field, where it is a reference that leads to nothing yet. */
  late: OpenReference[];
  /** Relations that wait for a mapping that does not run now. */
  resting: number;
  /** New counts of complete readings without a record. */
  absences: Record<string, number>;
}

/** What a record waits for: records and cards that have to be mapped; `value`: another value. */
interface Wait {
  records: Set<string>;
  cards: Set<string>;
  value: boolean;
}

/** Records that wait. */
export type DeferredWaits = Map<string, Wait>;

/** A reference to what has no card or record yet, and may get one by the same plan. */
export interface OpenReference {
  /** Where it is to be written. */
  side: Side;
  path: Path;
  /** Of the pair; the one that the plan is about to make is null. */
  remoteId: string | null;
  cardId: string | null;
  /** The row that makes the pair. */
  needs: number | null;
  /** What the field holds on both sides. */
  held: { local: Value; remote: Value };
  base: Agreed | null;
  settled: boolean;
  /** The record that it leads to; at the remote, the card. */
  awaits: string;
}

/** What a part of a plan is to know of the others. */
export interface PartOptions {
  firstNo?: number;
  /** Who is who beyond the sync state at hand: cards and records that reference fields lead to. */
  beyond?: Pick<TransformContext, 'cardOf' | 'recordOf' | 'makesCircle'>;
  /** Shared by all parts. */
  reserved?: Set<string>;
}

/** Begins a plan. @param evaluate runs a transform's formula within bounds. */
export function beginPlanning(
  mapping: Mapping,
  syncState: SyncState,
  seen: Observation,
  evaluate: TransformContext['evaluate'],
  { firstNo = 0, beyond, reserved = new Set() }: PartOptions = {},
): Planning {
  const known = identities(syncState, seen.local.redirects);
  const cardOf = (id: string) => known.cardOf(id) ?? beyond?.cardOf(id);
  const index = indexReading(seen.remote);
  const recordOf = (id: string) => {
    const record = known.presentRecordOf(id);
    return record !== undefined && !isReportedGone(index, record) ? record : beyond?.recordOf(id);
  };
  return {
    mapping,
    syncState,
    seen,
    index,
    identities: known,
    pairsOf: Map.groupBy(syncState.pairs.values(), ({ cardId }) => redirected(cardId, seen.local.redirects)),
    apart: unmappedCards(syncState),
    reserved,
    around: { cardOf, recordOf, evaluate, ...(beyond?.makesCircle && { makesCircle: beyond.makesCircle }) },
    rows: [],
    firstNo,
    again: new Set(),
    waits: new Map(),
    late: [],
    resting: 0,
    absences: {},
  };
}

/** A row with what it needs; the rest is empty. */
export type Draft = Pick<PlanRow, 'action' | 'reason'> & Partial<Omit<PlanRow, 'no'>>;

/** A row that says and does nothing. */
export const emptyRow: Omit<PlanRow, 'no' | 'action' | 'reason'> = {
  side: null,
  remoteId: null,
  cardId: null,
  diff: {},
  expects: {},
  needs: null,
  agreed: {},
  forgets: [],
  before: {},
  state: null,
  was: null,
  restored: null,
  drops: [],
  origin: null,
  candidates: [],
  link: null,
  baseLink: null,
  cards: null,
  path: null,
  refusedBy: null,
  settled: [],
  refers: {},
};

/** Adds a row. @returns it, so that others can need it. */
export function addRow(planning: Planning, draft: Draft): PlanRow {
  const row: PlanRow = { ...emptyRow, ...draft, no: planning.firstNo + planning.rows.length };
  planning.rows.push(row);
  return row;
}

/** Notes that a record waits. @param side where its value is to be written. */
export function wait({ waits }: Planning, remoteId: string, side: Side, awaits: string | undefined): void {
  const known = waits.get(remoteId) ?? { records: new Set(), cards: new Set(), value: false };
  waits.set(remoteId, known);
  if (awaits === undefined) known.value = true;
  else known[side === 'local' ? 'records' : 'cards'].add(awaits);
}

/** The base of the paths, with null for those that have none. */
function baseOf(base: Record<Path, Agreed>, paths: readonly Path[]): Record<Path, Agreed | null> {
  return Object.fromEntries(paths.map((path) => [path, base[path] ?? null]));
}

/** The base of a pair in all mapped fields. */
export function mappedBase({ mapping }: Planning, { base }: Pair): Record<Path, Agreed | null> {
  return baseOf(
    base,
    mapping.fields.map(({ card_field: path }) => path),
  );
}

/** The card that a pair is about today, if it is there. */
export function cardOfPair(planning: Planning, cardId: string): LocalCard | undefined {
  const card = planning.seen.local.cards.get(cardId);
  return card && !card.archived ? card : undefined;
}

/** What names a pair in a row. */
export const named = (pair: Pair, cardId: string) => ({ remoteId: pair.remoteId, cardId });

/** A pair whose fields are to be compared. */
export interface Compared {
  remoteId: string;
  card: LocalCard;
  /** Undefined when the record has not changed since both sides last agreed. */
  record: RemoteRecord | undefined;
  base: Record<Path, Agreed>;
}

interface Field {
  field: FieldMapping;
  local: Value;
  remote: Value;
  outcome: FieldOutcome;
}

/** Compares all fields of a pair. Where the record was not read, it holds what it held when both agreed. */
export function compareFields(planning: Planning, pair: Compared): Field[] {
  const { mapping, seen, around } = planning;
  const { card, record, base } = pair;
  const locals = localFields(mapping, card);
  const remotes = record && remoteFields(mapping, record);
  const remoteAt = record ? Date.parse(record.updatedAt) - seen.remoteAheadMs : Number.NaN;
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
      changedAt: { local: moment(card.changedAt?.[path] ?? card.updatedAt), remote: known(remoteAt) },
      putBack: seen.putBack?.find(
        (one) =>
          one.remoteId === pair.remoteId &&
          one.path === path &&
          same(canonical(one.value), one.side === 'local' ? local : remote),
      )?.side,
      winner: chosen(planning, pair.remoteId, path, local, remote),
    };
    const outcome = compareField(state, mapping.sync_direction, around);
    return [
      { field, local, remote, outcome: withoutRefused(planning, pair, { path, local, remote }, outcome) },
    ];
  });
}

/** A value that was refused before is not written again as it is, and a parent is never written that closes a circle. */
function withoutRefused(
  { seen, around }: Planning,
  { remoteId, card }: Compared,
  { path, local, remote }: { path: Path; local: Value; remote: Value },
  outcome: FieldOutcome,
): FieldOutcome {
  if (outcome.kind !== 'write') return outcome;
  const { side } = outcome;
  const parent = side === 'local' ? outcome.value : local;
  if (path === 'parent_id' && typeof parent === 'string' && around.makesCircle?.(card.id, parent)) {
    const reason = `'${path}' is not written, since the parents of both sides together would make a circle`;
    return { kind: 'conflict', reason };
  }
  const refusal = seen.refusals?.find(
    (one) =>
      one.remoteId === remoteId &&
      one.path === path &&
      one.side === side &&
      same(one.seen.local, local) &&
      same(one.seen.remote, remote),
  );
  return refusal ? { kind: 'refused', side, reason: refusal.reason } : outcome;
}

const known = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);
const moment = (text: string): number | null => known(Date.parse(text));

/** A person's word on these very values. */
export function chosen(
  planning: Planning,
  remoteId: string,
  path: Path | null,
  local: Value,
  remote: Value,
): Side | undefined {
  return planning.seen.resolutions.find(
    (one) =>
      one.remoteId === remoteId &&
      one.path === path &&
      same(one.seen.local, local) &&
      same(one.seen.remote, remote),
  )?.winner;
}

/** What agrees already, and what is left to be written. */
export function agreedFields(fields: readonly Field[]): Record<Path, Agreed> {
  return Object.fromEntries(
    fields.flatMap(({ field, outcome }) =>
      outcome.kind === 'agree' ? [[field.card_field, outcome.agreed] as const] : [],
    ),
  );
}

/**
 * Adds the rows that bring a pair's fields together.
 * @param link the row that makes the two a pair, when that is part of this plan.
 */
export function planFields(planning: Planning, pair: Compared, fields: Field[], link: PlanRow | null): void {
  const ids = { remoteId: pair.remoteId, cardId: pair.card.id, needs: link?.no ?? null };
  const agreed = agreedFields(fields);
  const paths = Object.keys(agreed);
  if (!link && paths.length > 0) {
    const reason = `both sides say the same of ${paths.map((path) => `'${path}'`).join(', ')}`;
    const expects = { pair: 'linked' } as const;
    addRow(planning, { ...ids, action: 'agree', reason, expects, agreed, before: baseOf(pair.base, paths) });
  }
  for (const side of ['local', 'remote'] as const) planWrite(planning, pair, fields, side, ids);
  for (const { field, local, remote, outcome } of fields) {
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') {
      const diff = { [field.card_field]: { old: local, new: remote } };
      const refusedBy = outcome.kind === 'refused' ? outcome.side : null;
      const { reason } = outcome;
      addRow(planning, { ...ids, action: 'conflict', reason, diff, path: field.card_field, refusedBy });
    } else if (outcome.kind === 'problem' || outcome.kind === 'held') {
      addRow(planning, { ...ids, action: 'skip', reason: outcome.reason, path: field.card_field });
    }
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') planning.again.add(pair.remoteId);
    if (outcome.kind !== 'problem') continue;
    const { side, awaits, settled } = outcome;
    wait(planning, pair.remoteId, side, awaits);
    if (awaits === undefined) continue;
    const held = { local, remote };
    const known = pair.base[field.card_field] ?? null;
    planning.late.push({ ...ids, side, path: field.card_field, held, base: known, settled, awaits });
  }
}

type Ids = Pick<PlanRow, 'remoteId' | 'cardId' | 'needs'>;

function planWrite(planning: Planning, pair: Compared, fields: Field[], side: Side, ids: Ids): void {
  const row = { diff: {}, agreed: {}, settled: [] } as Pick<PlanRow, 'diff' | 'agreed' | 'settled'>;
  const sees = { local: {} as Record<Path, Value>, remote: {} as Record<Path, Value> };
  const reasons: string[] = [];
  for (const { field, local, remote, outcome } of fields) {
    if (outcome.kind !== 'write' || outcome.side !== side) continue;
    const { card_field: path } = field;
    const { value } = outcome;
    row.diff[path] = { old: side === 'local' ? local : remote, new: value };
    row.agreed[path] = side === 'local' ? { local: value, remote } : { local, remote: value };
    if (outcome.settled) row.settled.push(path);
    sees.local[path] = local;
    sees.remote[path] = remote;
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
      card: { there: true, fields: sees.local },
      ...(side === 'remote' && { record: { there: true, fields: sees.remote } }),
    },
    before: baseOf(pair.base, Object.keys(row.diff)),
  });
}

/** What one side holds that both have not agreed on, field by field; in words. What was not read has not moved. */
export function changesSinceBase(
  { mapping }: Planning,
  { card, record, base }: Compared,
  side: Side,
): string[] {
  if (side === 'remote' && !record) return [];
  const values = side === 'local' ? localFields(mapping, card) : remoteFields(mapping, record!);
  return Object.entries(values).flatMap(([path, now]) => {
    const before = base[path]?.[side] ?? null;
    return same(now, before) ? [] : [`'${path}' from ${told(before)} to ${told(now)}`];
  });
}
