import type { FieldMapping, Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import { compareField, type FieldState, localFields, remoteFields, type TransformContext } from './fields.ts';
import type { Agreed, LocalCard, Observation, Pair, Path, Side, SyncState } from './model.types.ts';
import type { FieldOutcome, PlanRow } from './plan.types.ts';
import {
  findUnmappedCards,
  indexObservation,
  indexPairs,
  isReportedGone,
  type ObservationIndex,
  type PairIndex,
  type RecordState,
  survivorOf,
} from './state.ts';
import { canonical, formatValue, isEqual } from './values.ts';

/** The state of planning one part. */
export interface Planning {
  mapping: Mapping;
  syncState: SyncState;
  observation: Observation;
  index: ObservationIndex;
  pairIndex: PairIndex;
  /** All pairs, live or not, by surviving card. */
  pairsByCard: ReadonlyMap<string, Pair[]>;
  /** Cards that a user has un-mapped. */
  unmappedCards: ReadonlySet<string>;
  /** Cards whose record has returned, or may have: no other record is linked with them or created for them. */
  reserved: Set<string>;
  transformContext: TransformContext;
  rows: PlanRow[];
  /** The number of the first row of this part. */
  firstNo: number;
  /** Records that the next run reads even if unchanged. */
  again: Set<string>;
  /** Records with values that cannot be converted yet. */
  deferred: Deferrals;
  /** Those of these values that are references to objects without a pair. */
  openReferences: OpenReference[];
  /** The number of relations that a mapping blocks which is paused or cannot run. */
  blockedRelations: number;
  /** New values of the pairs' `absences`. */
  absences: Record<string, number>;
}

/** Why a record is deferred: records and cards that need a pair first; `hasOtherCause`: a value that cannot be converted. */
interface Deferral {
  records: Set<string>;
  cards: Set<string>;
  hasOtherCause: boolean;
}

/** Deferred records by remote id. */
export type Deferrals = Map<string, Deferral>;

/** A reference to an object without a pair, which the same plan may create or link. */
export interface OpenReference {
  /** The side that is written. */
  side: Side;
  path: Path;
  /** The pair; the id that the plan is going to create is null. */
  remoteId: string | null;
  cardId: string | null;
  /** The row that creates the pair. */
  needs: number | null;
  /** The values of both sides. */
  values: { local: Value; remote: Value };
  base: Agreed | null;
  settled: boolean;
  /** The referenced record; if `side` is `remote`, the referenced card. */
  awaitedId: string;
}

/** What a part of a plan shares with the others. */
export interface PartOptions {
  firstNo?: number;
  /** Resolves references to objects that are not in the sync state of this part. */
  references?: Pick<TransformContext, 'cardOf' | 'recordOf' | 'closesCycle'>;
  reserved?: Set<string>;
}

/** Begins planning a part. @param evaluate evaluates the formula of a transform. */
export function beginPlanning(
  mapping: Mapping,
  syncState: SyncState,
  observation: Observation,
  evaluate: TransformContext['evaluate'],
  { firstNo = 0, references, reserved = new Set() }: PartOptions = {},
): Planning {
  const known = indexPairs(syncState, observation.local.redirects);
  const cardOf = (id: string) => known.cardOf(id) ?? references?.cardOf(id);
  const index = indexObservation(observation.remote);
  const recordOf = (id: string) => {
    const record = known.presentRecordOf(id);
    return record !== undefined && !isReportedGone(index, record) ? record : references?.recordOf(id);
  };
  return {
    mapping,
    syncState,
    observation,
    index,
    pairIndex: known,
    pairsByCard: Map.groupBy(syncState.pairs.values(), ({ cardId }) =>
      survivorOf(cardId, observation.local.redirects),
    ),
    unmappedCards: findUnmappedCards(syncState),
    reserved,
    transformContext: {
      cardOf,
      recordOf,
      evaluate,
      ...(references?.closesCycle && { closesCycle: references.closesCycle }),
    },
    rows: [],
    firstNo,
    again: new Set(),
    deferred: new Map(),
    openReferences: [],
    blockedRelations: 0,
    absences: {},
  };
}

/** A row without its number; missing members are empty. */
type Draft = Pick<PlanRow, 'action' | 'reason'> & Partial<Omit<PlanRow, 'no'>>;

/** An empty row. */
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

/** Adds a row to the plan. */
export function addRow(planning: Planning, draft: Draft): PlanRow {
  const row: PlanRow = { ...emptyRow, ...draft, no: planning.firstNo + planning.rows.length };
  planning.rows.push(row);
  return row;
}

/** Defers a record. @param side the side that is to be written. */
export function defer(
  { deferred }: Planning,
  remoteId: string,
  side: Side,
  awaitedId: string | undefined,
): void {
  const known = deferred.get(remoteId) ?? { records: new Set(), cards: new Set(), hasOtherCause: false };
  deferred.set(remoteId, known);
  if (awaitedId === undefined) known.hasOtherCause = true;
  else known[side === 'local' ? 'records' : 'cards'].add(awaitedId);
}

/** The bases of the paths; null if there is none. */
function baseOf(base: Record<Path, Agreed>, paths: readonly Path[]): Record<Path, Agreed | null> {
  return Object.fromEntries(paths.map((path) => [path, base[path] ?? null]));
}

/** The bases of a pair by mapped field; null if there is none. */
export function mappedBase({ mapping }: Planning, { base }: Pair): Record<Path, Agreed | null> {
  return baseOf(
    base,
    mapping.fields.map(({ card_field: path }) => path),
  );
}

/** The card, unless it is archived or deleted. */
export function findActiveCard(planning: Planning, cardId: string): LocalCard | undefined {
  const card = planning.observation.local.cards.get(cardId);
  return card && !card.archived ? card : undefined;
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
    (one) =>
      one.remoteId === remoteId &&
      one.path === path &&
      one.side === side &&
      isEqual(one.values.local, local) &&
      isEqual(one.values.remote, remote),
  );
  return refusal ? { kind: 'refused', side, reason: refusal.reason } : outcome;
}

const nullIfNaN = (ms: number): number | null => (Number.isNaN(ms) ? null : ms);
const parseTime = (text: string): number | null => nullIfNaN(Date.parse(text));

/** The winner that a user has chosen for these values. */
export function findResolution(
  planning: Planning,
  remoteId: string,
  path: Path | null,
  local: Value,
  remote: Value,
): Side | undefined {
  return planning.observation.resolutions.find(
    (one) =>
      one.remoteId === remoteId &&
      one.path === path &&
      isEqual(one.values.local, local) &&
      isEqual(one.values.remote, remote),
  )?.winner;
}

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
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') {
      const diff = { [field.card_field]: { old: local, new: remote } };
      const refusedBy = outcome.kind === 'refused' ? outcome.side : null;
      const { reason } = outcome;
      addRow(planning, { ...ids, action: 'conflict', reason, diff, path: field.card_field, refusedBy });
    } else if (outcome.kind === 'problem' || outcome.kind === 'disallowed') {
      addRow(planning, { ...ids, action: 'skip', reason: outcome.reason, path: field.card_field });
    }
    if (outcome.kind === 'conflict' || outcome.kind === 'refused') planning.again.add(pair.remoteId);
    if (outcome.kind !== 'problem') continue;
    const { side, awaitedId, settled } = outcome;
    defer(planning, pair.remoteId, side, awaitedId);
    if (awaitedId === undefined) continue;
    const values = { local, remote };
    const known = pair.base[field.card_field] ?? null;
    planning.openReferences.push({
      ...ids,
      side,
      path: field.card_field,
      values,
      base: known,
      settled,
      awaitedId,
    });
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
