import type { Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { createSemaphore } from '../../../../platform/semaphore.ts';
import type { RecordLookup, RemoteRecord } from '../remote.ts';
import {
  type ApplyContext,
  appliedOutcome,
  findMissingDependency,
  finishRows,
  hasOpenReferences,
  localStaleReason,
  refusedRow,
  remoteStaleReason,
  resolveReferences,
  stateChanges,
  unappliedRow,
} from './apply.rows.ts';
import { canonical, formatValue, isEqual, remoteFields } from './fields.ts';
import type { Path, StateChange } from './model.types.ts';
import type {
  LocalState,
  PlanRow,
  RemoteWrite,
  RemoteWriteResult,
  RowResult,
  TrackedRow,
} from './plan.types.ts';

/** The maximum number of times that a write is sent; before each repetition it is looked up. */
const ATTEMPTS = 3;
/** Defaults of the options. */
const BATCH = 40;
const CONCURRENCY = 8;

/** The correlation id of a row's write, which is the same for each attempt. */
const correlationOf = (planId: string, row: Pick<PlanRow, 'no'>): string => `${planId}:${row.no}`;

/** A row that is being written to the remote. */
interface Sending {
  row: PlanRow;
  write: RemoteWrite;
  correlationId: string;
  /** It was sent before, and its response is unknown. */
  wasSent: boolean;
}

/**
 * Applies rows at the remote in batches: marks them as started, reads their records again, and sends the writes. If a response is
 * lost, also because the process was killed, the write is looked up by its correlation id before it is sent again.
 * @returns the number of a row whose outcome is unknown in the end; null if there is none.
 */
export async function applyRemote(
  applying: ApplyContext,
  rows: readonly TrackedRow[],
): Promise<number | null> {
  for (const part of splitIndependent(rows, applying.options.remoteBatch ?? BATCH)) {
    const lost = await applyPart(applying, part);
    if (lost !== null) return lost;
  }
  return null;
}

async function applyPart(applying: ApplyContext, part: readonly TrackedRow[]): Promise<number | null> {
  let pending = part.map(({ row, progress }): Sending => {
    const write = remoteWrite(applying.mapping, row);
    // an existing record that the remote has adopted may have the relation already
    const mayExist = row.action === 'relate' && hasOpenReferences(row);
    const wasSent = progress === 'started' || mayExist;
    return { row, write, correlationId: correlationOf(applying.planId, row), wasSent };
  });
  for (let attempt = 0; attempt < ATTEMPTS && pending.length > 0; attempt += 1) {
    pending = await lookUpSent(applying, pending);
    pending = await begin(applying, pending);
    pending = await send(applying, pending);
  }
  return pending[0]?.row.no ?? null;
}

/**
 * Finds out whether the started writes of a plan that is no longer applied were executed, and stores the bases of those that were.
 * Nothing is sent; the next run plans the others again.
 */
export async function resolveStartedRows(applying: ApplyContext, rows: readonly TrackedRow[]): Promise<void> {
  for (const part of splitIndependent(
    await resolveReferences(applying, rows),
    applying.options.remoteBatch ?? BATCH,
  )) {
    const sent = part.map(({ row }): Sending => {
      const write = remoteWrite(applying.mapping, row);
      return { row, write, correlationId: correlationOf(applying.planId, row), wasSent: true };
    });
    const open = await lookUpSent(applying, sent);
    const endings = open.map(({ row }) =>
      unappliedRow(row, 'stale', 'It had not been executed when its run ended.'),
    );
    await finish(applying, open, endings);
  }
}

/** Stores the outcomes of rows. @returns the rows that have not ended. */
async function finish(
  applying: ApplyContext,
  open: readonly Sending[],
  endings: readonly RowResult[],
): Promise<Sending[]> {
  await finishRows(applying, endings);
  const ended = new Set(endings.map(({ row }) => row.no));
  return open.filter(({ row }) => !ended.has(row.no));
}

/**
 * @param record the record after the write; null if unknown: then the base gets the sent values.
 * @param adopted the record existed before, so that the engine does not remove it with its card under `conservative`.
 */
function appliedRow(
  mapping: Mapping,
  sent: PlanRow,
  id: string | undefined,
  record: RemoteRecord | null,
  { adopted, notice = null }: { adopted?: boolean | undefined; notice?: string | null | undefined } = {},
  unwritten: Record<Path, string> = {},
): RowResult {
  const row: PlanRow = adopted ? { ...sent, origin: 'linked' } : sent;
  return {
    row,
    outcome: appliedOutcome(unwritten, row.remoteId === null ? id : undefined, notice),
    changes: stateChanges(mapping, row, {
      record,
      remoteId: row.remoteId ?? id ?? null,
      cardId: row.cardId,
      unwritten: new Set(Object.keys(unwritten)),
    }),
  };
}

/** Looks up writes that were sent before. @returns those that were not executed. */
async function lookUpSent(applying: ApplyContext, open: readonly Sending[]): Promise<Sending[]> {
  const { mapping, port, options } = applying;
  const sent = open.filter((one) => one.wasSent);
  if (sent.length === 0) return [...open];
  const unsupported: Sending[] = [];
  const endings: RowResult[] = [];
  const { failed } = await forEachConcurrently(sent, options, async (one) => {
    const trace = await port.findWrite(one.write, one.correlationId);
    // the record may have been changed since, so the base gets the sent values
    if (trace.kind === 'executed') endings.push(appliedRow(mapping, one.row, trace.record?.id, null, trace));
    if (trace.kind === 'unsupported') unsupported.push(one);
  });
  if (failed) throw failed.error;
  const ids = unsupported.flatMap(({ row }) => (row.remoteId === null || row.link ? [] : [row.remoteId]));
  const states =
    ids.length > 0 ? await port.readRemote(mapping.remote_table, ids) : new Map<string, RecordLookup>();
  for (const { row } of unsupported) {
    const found = findByState(applying, row, states);
    if (found.kind === 'executed') endings.push(appliedRow(mapping, row, undefined, null));
    if (found.kind === 'partial') {
      endings.push({ ...unappliedRow(row, 'stale', found.message), changes: found.changes });
    }
  }
  return await finish(applying, open, endings);
}

/** Marks rows as started unless they are stale. @returns the started rows. */
async function begin(applying: ApplyContext, open: readonly Sending[]): Promise<Sending[]> {
  if (open.length === 0) return [];
  const { mapping, port, progress } = applying;
  const staleReasons = await port.begin(
    open.map(({ row }) => ({
      row,
      check: (state: LocalState) =>
        findMissingDependency(row, progress) ?? localStaleReason(mapping, row, state),
    })),
  );
  const endings = open.flatMap(({ row }, n) =>
    staleReasons[n] === null ? [] : [unappliedRow(row, 'stale', staleReasons[n]!)],
  );
  return await finish(applying, open, endings);
}

/** Sends the writes of rows whose records are unchanged. @returns the rows whose response was lost. */
async function send(applying: ApplyContext, open: readonly Sending[]): Promise<Sending[]> {
  const { mapping, port, options } = applying;
  const ids = open.flatMap(({ row }) => (row.expects.record && row.remoteId !== null ? [row.remoteId] : []));
  const states =
    ids.length > 0 ? await port.readRemote(mapping.remote_table, ids) : new Map<string, RecordLookup>();
  const endings: RowResult[] = [];
  const unchanged = open.filter(({ row }) => {
    const state = row.remoteId === null ? undefined : states.get(row.remoteId);
    const staleReason = state ? remoteStaleReason(mapping, row, state) : null;
    if (staleReason !== null) endings.push(unappliedRow(row, 'stale', staleReason));
    return staleReason === null;
  });
  const removed = unchanged.flatMap(({ row }) => (row.action === 'delete' ? [row] : []));
  if (removed.length > 0) await port.storeDeletedContent?.(removed);
  const { failed } = await forEachConcurrently(unchanged, options, async ({ row, write, correlationId }) => {
    const state = row.remoteId === null ? undefined : states.get(row.remoteId);
    const current = state?.kind === 'there' ? state.record : null;
    const { result, unwritten } = await writeOneOrEach(applying, { row, write, correlationId }, current);
    if (result.kind === 'done') {
      const record = result.found ? null : result.record;
      const notices = [result.notice, describeAlteredValues(mapping, row, record, unwritten)].filter(Boolean);
      const notice = notices.join(' ') || null;
      endings.push(appliedRow(mapping, row, result.record?.id, record, { ...result, notice }, unwritten));
    } else if (result.kind === 'refused') {
      endings.push(refusedRow(row, result.message));
    } else if (result.kind !== 'lost') endings.push(unappliedRow(row, result.kind, result.message));
  });
  const remaining = await finish(applying, open, endings);
  if (failed) throw failed.error;
  return remaining.map((one) => ({ ...one, wasSent: true }));
}

/**
 * Lists the values that the remote stored differently from what was sent, since it truncates texts and ignores columns that are
 * read-only for the account. Null if there are none.
 */
function describeAlteredValues(
  mapping: Mapping,
  { diff }: PlanRow,
  record: RemoteRecord | null,
  unwritten: Record<Path, string>,
): string | null {
  if (!record) return null;
  const text = (value: Value | undefined) => String(value ?? '');
  const stored = remoteFields(mapping, record);
  const altered = Object.entries(diff).flatMap(([path, { new: sent }]) =>
    path in unwritten || !(path in stored) || text(stored[path]) === text(canonical(sent))
      ? []
      : [`'${path}' as ${formatValue(stored[path]!)} instead of ${formatValue(sent)}`],
  );
  return altered.length === 0 ? null : `The remote stored ${altered.join(', ')}.`;
}

/** Sends a write. If an update of several values is refused, each value is sent by itself. */
async function writeOneOrEach(
  { mapping, port }: ApplyContext,
  { row, write, correlationId }: Pick<Sending, 'row' | 'write' | 'correlationId'>,
  read: RemoteRecord | null,
): Promise<{ result: RemoteWriteResult; unwritten: Record<Path, string> }> {
  const result = await port.writeRemote(write, correlationId, read);
  const paths = Object.keys(row.diff);
  if (result.kind !== 'refused' || write.kind !== 'update' || paths.length < 2)
    return { result, unwritten: {} };
  const unwritten: Record<Path, string> = {};
  let last: RemoteWriteResult = result;
  let current = read;
  for (const path of paths) {
    const one = remoteWrite(mapping, { ...row, diff: { [path]: row.diff[path]! } });
    const single = await port.writeRemote(one, correlationId, current);
    if (single.kind === 'refused') unwritten[path] = single.message;
    else if (single.kind !== 'done') return { result: single, unwritten };
    else {
      last = single;
      current = single.record ?? current;
    }
  }
  return { result: last, unwritten };
}

/** Processes all items concurrently. After an error no further item is started, and the running ones are awaited. */
async function forEachConcurrently<T>(
  items: readonly T[],
  { concurrency = CONCURRENCY }: ApplyContext['options'],
  act: (item: T) => Promise<void>,
): Promise<{ failed: { error: unknown } | undefined }> {
  const limited = createSemaphore(concurrency);
  let failed: { error: unknown } | undefined;
  const process = async (item: T) => {
    try {
      if (!failed) await act(item);
    } catch (error) {
      failed ??= { error };
    }
  };
  await Promise.all(items.map((item) => limited(() => process(item))));
  return { failed };
}

function remoteWrite(mapping: Mapping, row: PlanRow): RemoteWrite {
  const { remote_table: table } = mapping;
  const id = row.remoteId ?? '';
  const column = new Map(mapping.fields.map(({ card_field: path, remote_field: remote }) => [path, remote]));
  const values: Record<string, Value> = {};
  for (const [path, { new: value }] of Object.entries(row.diff)) values[column.get(path) ?? path] = value;
  switch (row.action) {
    case 'create': {
      const defaults = mapping.record_defaults;
      return { kind: 'create', table, values, defaults, ...(row.restored && { restored: row.restored }) };
    }
    case 'delete':
      return { kind: 'delete', table, id };
    case 'relate':
    case 'unrelate':
      return { kind: row.action, link: row.link! };
    default:
      return { kind: 'update', table, id, values };
  }
}

type Found =
  | { kind: 'executed' }
  | { kind: 'absent' }
  | { kind: 'partial'; message: string; changes: StateChange[] };

/**
 * Finds out by the record's state whether a write without a correlation id was executed. All values as sent: executed. All as
 * before: not executed. Otherwise the record was changed since: the values as sent become the base. Of a value that is neither
 * as sent nor as before, the older one becomes the base, so that the card's value is not overwritten as if it were unchanged.
 */
function findByState(
  { mapping, options }: ApplyContext,
  row: PlanRow,
  states: ReadonlyMap<string, RecordLookup>,
): Found {
  const state = row.remoteId === null ? undefined : states.get(row.remoteId);
  if (!state || row.remoteId === null) return { kind: 'absent' };
  if (row.action === 'delete') return { kind: state.kind === 'gone' ? 'executed' : 'absent' };
  if (state.kind !== 'there') return { kind: 'absent' };
  const now = remoteFields(mapping, state.record);
  const entries = Object.entries(row.diff);
  const holds = (path: string, value: Value) => isEqual(now[path] ?? null, canonical(value));
  if (entries.every(([path, { new: value }]) => holds(path, value))) return { kind: 'executed' };
  if (entries.every(([path, { old }]) => holds(path, old))) return { kind: 'absent' };
  const base = Object.fromEntries(
    entries
      .filter(
        ([path, { old, new: value }]) => holds(path, value) || (options.writesOlder && !holds(path, old)),
      )
      .map(([path]) => [path, row.agreed[path]!] as const),
  );
  return {
    kind: 'partial',
    message: 'The response was lost, and the record was changed since.',
    changes: Object.keys(base).length > 0 ? [{ op: 'base', remoteId: row.remoteId, base }] : [],
  };
}

/** Splits rows into batches of at most `size` independent rows: no two have the same card or record, or need each other. */
function* splitIndependent(rows: readonly TrackedRow[], size: number): Generator<TrackedRow[]> {
  let part: TrackedRow[] = [];
  let touched = new Set<string | number>();
  for (const one of rows) {
    const { no, needs, remoteId, cardId } = one.row;
    const keys = [remoteId, cardId].filter((key) => key !== null);
    if (part.length === size || [...keys, needs].some((key) => key !== null && touched.has(key))) {
      yield part;
      part = [];
      touched = new Set();
    }
    part.push(one);
    for (const key of [...keys, no]) touched.add(key);
  }
  if (part.length > 0) yield part;
}
