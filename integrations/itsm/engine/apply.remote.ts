import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import { localObjection, remoteObjection, stateChanges } from './apply.check.ts';
import {
  type Applying,
  allLeft,
  hasOpenReferences,
  inParts,
  leftOut,
  needsObjection,
  resolveReferences,
  without,
} from './apply.rows.ts';
import { remoteFields } from './fields.ts';
import type { Path, StateChange } from './model.types.ts';
import type {
  LocalState,
  PlanRow,
  RemoteAnswer,
  RemoteState,
  RemoteWrite,
  RowResult,
  TrackedRow,
} from './plan.types.ts';
import { canonical, same, told } from './values.ts';

/** How often a write is sent at most, each time after a look whether it has arrived. */
const ATTEMPTS = 3;
/** Unless told otherwise. */
const BATCH = 40;
const AT_ONCE = 8;

/** The mark by which a row's write is found again at the remote: the same however often it is sent. */
const correlationOf = (planId: string, row: Pick<PlanRow, 'no'>): string => `${planId}:${row.no}`;

/** A row on its way to the remote. */
interface Sending {
  row: PlanRow;
  write: RemoteWrite;
  mark: string;
  /** It was sent before, and its answer is not known. */
  sent: boolean;
}

/**
 * Applies rows at the remote, a few dozen at a time: they are noted as begun, their records are looked at once more,
 * and only then they are sent. When an answer is lost, now or because the process was killed, the write is looked up
 * by its mark before it is sent again.
 * @returns the number of a row of which it is not known in the end whether it has arrived; null when there is none.
 */
export async function applyRemote(applying: Applying, rows: readonly TrackedRow[]): Promise<number | null> {
  for (const part of inParts(rows, applying.options.remoteBatch ?? BATCH)) {
    const lost = await applyPart(applying, part);
    if (lost !== null) return lost;
  }
  return null;
}

async function applyPart(applying: Applying, part: readonly TrackedRow[]): Promise<number | null> {
  let open = part.map(({ row, progress }): Sending => {
    const write = remoteWrite(applying.mapping, row);
    // a record that the remote had before, and that was taken for the new one, may have had the relation too
    const mayBeThere = row.action === 'relate' && hasOpenReferences(row);
    const sent = progress === 'begun' || mayBeThere;
    return { row, write, mark: correlationOf(applying.planId, row), sent };
  });
  for (let attempt = 0; attempt < ATTEMPTS && open.length > 0; attempt += 1) {
    open = await lookUp(applying, open);
    open = await begin(applying, open);
    open = await send(applying, open);
  }
  return open[0]?.row.no ?? null;
}

/**
 * Finds out what has become of writes of a plan that nobody goes on with: what has arrived is agreed on. Nothing is sent;
 * what has not arrived is left to the next plan.
 */
export async function settleBegun(applying: Applying, rows: readonly TrackedRow[]): Promise<void> {
  for (const part of inParts(
    await resolveReferences(applying, rows),
    applying.options.remoteBatch ?? BATCH,
  )) {
    const sent = part.map(({ row }): Sending => {
      const write = remoteWrite(applying.mapping, row);
      return { row, write, mark: correlationOf(applying.planId, row), sent: true };
    });
    const open = await lookUp(applying, sent);
    const endings = open.map(({ row }) => ending(row, 'stale', 'It had not arrived when its run had ended.'));
    await settle(applying, open, endings);
  }
}

/** Stores how rows ended. @returns those that have not. */
async function settle(
  { port, ended }: Applying,
  open: readonly Sending[],
  endings: readonly RowResult[],
): Promise<Sending[]> {
  if (endings.length === 0) return [...open];
  await port.finish(endings);
  for (const { row, outcome } of endings) ended.set(row.no, outcome.progress);
  const over = new Set(endings.map(({ row }) => row.no));
  return open.filter(({ row }) => !over.has(row.no));
}

const ending = (row: PlanRow, progress: 'stale' | 'refused', message: string): RowResult => ({
  row,
  outcome: without(progress, message),
  changes: [],
});

/**
 * @param record as the write has left it; null where that is not known, and what was sent counts as agreed.
 * @param adopted it had been there before, so that it is not ours to remove when its card goes.
 */
function applied(
  mapping: Mapping,
  sent: PlanRow,
  id: string | undefined,
  record: RemoteRecord | null,
  {
    adopted = false,
    notice = null,
    left = {},
  }: {
    adopted?: boolean | undefined;
    notice?: string | null | undefined;
    left?: Record<Path, string> | undefined;
  } = {},
): RowResult {
  const row: PlanRow = adopted ? { ...sent, origin: 'linked' } : sent;
  const remoteId = row.remoteId ?? id ?? null;
  const made = row.remoteId === null && id !== undefined ? { madeId: id } : {};
  const paths = Object.keys(left);
  return {
    row,
    outcome: {
      progress: 'applied',
      message: paths.length > 0 ? leftOut(left) : notice,
      ...made,
      ...(paths.length > 0 && { left }),
    },
    changes: stateChanges(mapping, row, { record, remoteId, cardId: row.cardId, left: new Set(paths) }),
  };
}

/** Looks for writes that were sent before. @returns those that have not arrived. */
async function lookUp(applying: Applying, open: readonly Sending[]): Promise<Sending[]> {
  const { mapping, port, options } = applying;
  const sent = open.filter((one) => one.sent);
  if (sent.length === 0) return [...open];
  const unmarked: Sending[] = [];
  const endings: RowResult[] = [];
  const { failed } = await each(sent, options.atOnce ?? AT_ONCE, async (one) => {
    const trace = await port.trace(one.write, one.mark);
    // what the record holds by now may be somebody's later change; only what was sent is known to be agreed
    if (trace.kind === 'arrived') {
      endings.push(applied(mapping, one.row, trace.record?.id, null, trace));
    }
    if (trace.kind === 'unmarked') unmarked.push(one);
  });
  if (failed) throw failed.error;
  const ids = unmarked.flatMap(({ row }) => (row.remoteId === null || row.link ? [] : [row.remoteId]));
  const states =
    ids.length > 0 ? await port.readRemote(mapping.remote_table, ids) : new Map<string, RemoteState>();
  for (const { row } of unmarked) {
    const found = foundByState(mapping, row, states);
    if (found.kind === 'arrived') endings.push(applied(mapping, row, undefined, null));
    if (found.kind === 'partly') {
      endings.push({ ...ending(row, 'stale', found.message), changes: found.changes });
    }
  }
  return await settle(applying, open, endings);
}

/** Notes rows as begun, unless the inventory or the sync state is no longer as they were made from. */
async function begin(applying: Applying, open: readonly Sending[]): Promise<Sending[]> {
  if (open.length === 0) return [];
  const { mapping, port, ended } = applying;
  const objections = await port.begin(
    open.map(({ row }) => ({
      row,
      check: (state: LocalState) => needsObjection(row, ended) ?? localObjection(mapping, row, state),
    })),
  );
  const endings = open.flatMap(({ row }, n) =>
    objections[n] === null ? [] : [ending(row, 'stale', objections[n]!)],
  );
  return await settle(applying, open, endings);
}

/** Sends rows whose records are still as they were made from. @returns those of which the answer was lost. */
async function send(applying: Applying, open: readonly Sending[]): Promise<Sending[]> {
  const { mapping, port, options } = applying;
  const ids = open.flatMap(({ row }) => (row.expects.record && row.remoteId !== null ? [row.remoteId] : []));
  const states =
    ids.length > 0 ? await port.readRemote(mapping.remote_table, ids) : new Map<string, RemoteState>();
  const endings: RowResult[] = [];
  const fit = open.filter(({ row }) => {
    const state = row.remoteId === null ? undefined : states.get(row.remoteId);
    const objection = state ? remoteObjection(mapping, row, state) : null;
    if (objection !== null) endings.push(ending(row, 'stale', objection));
    return objection === null;
  });
  const removed = fit.flatMap(({ row }) => (row.action === 'delete' ? [row] : []));
  if (removed.length > 0) await port.storeRemoved?.(removed);
  const { failed } = await each(fit, options.atOnce ?? AT_ONCE, async ({ row, write, mark }) => {
    const state = row.remoteId === null ? undefined : states.get(row.remoteId);
    const seen = state?.kind === 'there' ? state.record : null;
    const { answer, left } = await writeWhatGoes(applying, { row, write, mark }, seen);
    if (answer.kind === 'done') {
      const record = answer.found ? null : answer.record;
      const notice = [answer.notice, storedOtherwise(mapping, row, record, left)].filter(Boolean).join(' ');
      endings.push(
        applied(mapping, row, answer.record?.id, record, { ...answer, notice: notice || null, left }),
      );
    } else if (answer.kind === 'refused') {
      const outcome = { ...without('refused', answer.message), left: allLeft(row, answer.message) };
      endings.push({ row, outcome, changes: [] });
    } else if (answer.kind !== 'lost') endings.push(ending(row, answer.kind, answer.message));
  });
  const left = await settle(applying, open, endings);
  if (failed) throw failed.error;
  return left.map((one) => ({ ...one, sent: true }));
}

/**
 * Which values the remote did not store as they were sent: it truncates texts, and ignores columns that the account or a rule
 * may not change. Null if there are none.
 */
function storedOtherwise(
  mapping: Mapping,
  { diff }: PlanRow,
  record: RemoteRecord | null,
  left: Record<Path, string>,
): string | null {
  if (!record) return null;
  const text = (value: Value | undefined) => String(value ?? '');
  const stored = remoteFields(mapping, record);
  const others = Object.entries(diff).flatMap(([path, { new: sent }]) =>
    path in left || !(path in stored) || text(stored[path]) === text(canonical(sent))
      ? []
      : [`'${path}' as ${told(stored[path]!)} instead of ${told(sent)}`],
  );
  return others.length === 0 ? null : `The remote stored ${others.join(', ')}.`;
}

/** Sends a write; where a change of several values is refused, each of them by itself, so that one stops no other. */
async function writeWhatGoes(
  { mapping, port }: Applying,
  { row, write, mark }: Pick<Sending, 'row' | 'write' | 'mark'>,
  seen: RemoteRecord | null,
): Promise<{ answer: RemoteAnswer; left: Record<Path, string> }> {
  const answer = await port.writeRemote(write, mark, seen);
  const paths = Object.keys(row.diff);
  if (answer.kind !== 'refused' || write.kind !== 'update' || paths.length < 2) return { answer, left: {} };
  const left: Record<Path, string> = {};
  let last: RemoteAnswer = answer;
  let current = seen;
  for (const path of paths) {
    const one = remoteWrite(mapping, { ...row, diff: { [path]: row.diff[path]! } });
    const said = await port.writeRemote(one, mark, current);
    if (said.kind === 'refused') left[path] = said.message;
    else if (said.kind !== 'done') return { answer: said, left };
    else {
      last = said;
      current = said.record ?? current;
    }
  }
  return { answer: last, left };
}

/** Does all with some under way at once. After a failure none is begun any more, and those under way come to an end. */
async function each<T>(
  items: readonly T[],
  atOnce: number,
  act: (item: T) => Promise<void>,
): Promise<{ failed: { error: unknown } | undefined }> {
  let failed: { error: unknown } | undefined;
  let next = 0;
  const work = async () => {
    while (failed === undefined && next < items.length) {
      const item = items[next]!;
      next += 1;
      try {
        await act(item);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return { failed };
}

function remoteWrite(mapping: Mapping, row: PlanRow): RemoteWrite {
  const { remote_table: table } = mapping;
  const id = row.remoteId ?? '';
  const column = new Map(mapping.fields.map(({ card_field: path, remote_field: remote }) => [path, remote]));
  const values: Record<string, Value> = row.action === 'create' ? { ...mapping.record_defaults } : {};
  for (const [path, { new: value }] of Object.entries(row.diff)) values[column.get(path) ?? path] = value;
  switch (row.action) {
    case 'create':
      return { kind: 'create', table, values, ...(row.restored && { restored: row.restored }) };
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
  | { kind: 'arrived' }
  | { kind: 'absent' }
  | { kind: 'partly'; message: string; changes: StateChange[] };

/**
 * What the present state tells about a write without a mark. All as it was sent: it has arrived. All as it was before:
 * it has not. Else somebody has written since; what is as it was sent is agreed on, and the next run sees to the rest.
 */
function foundByState(mapping: Mapping, row: PlanRow, states: ReadonlyMap<string, RemoteState>): Found {
  const state = row.remoteId === null ? undefined : states.get(row.remoteId);
  if (!state || row.remoteId === null) return { kind: 'absent' };
  if (row.action === 'delete') return { kind: state.kind === 'gone' ? 'arrived' : 'absent' };
  if (state.kind !== 'there') return { kind: 'absent' };
  const now = remoteFields(mapping, state.record);
  const entries = Object.entries(row.diff);
  const holds = (path: string, value: Value) => same(now[path] ?? null, canonical(value));
  if (entries.every(([path, { new: value }]) => holds(path, value))) return { kind: 'arrived' };
  if (entries.every(([path, { old }]) => holds(path, old))) return { kind: 'absent' };
  const base = Object.fromEntries(
    entries
      .filter(([path, { new: value }]) => holds(path, value))
      .map(([path]) => [path, row.agreed[path]!] as const),
  );
  return {
    kind: 'partly',
    message: 'The answer was lost, and the record was changed since.',
    changes: Object.keys(base).length > 0 ? [{ op: 'base', remoteId: row.remoteId, base }] : [],
  };
}
