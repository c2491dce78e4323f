import type { RemoteRecord } from '../remote.types.ts';
import { bookChanges } from './apply.changes.ts';
import { localObjection, remoteObjection } from './apply.check.ts';
import type { EnginePort, LocalState, Outcome, RemoteState, RemoteWrite } from './apply.types.ts';
import type { BookChange } from './book.types.ts';
import type { Mapping } from './mapping.types.ts';
import { remoteFields } from './normalise.ts';
import type { PlanRow } from './plan.types.ts';
import { canonical, same, type Value } from './values.ts';

/** How often a write is sent at most, each time after a look whether it has arrived. */
const ATTEMPTS = 3;

/** The mark by which a row's write is found again at the remote: the same however often it is sent. */
export const correlationOf = (planId: string, row: PlanRow): string => `${planId}:${row.no}`;

/**
 * Applies a row at the remote. Before it is sent the row is noted as begun; when the answer is lost, now or because
 * the process was killed, the write is looked up by its mark before it is sent again.
 * @returns `lost` when it is not known in the end whether it has arrived.
 */
export async function applyRemote(
  mapping: Mapping,
  planId: string,
  row: PlanRow,
  port: EnginePort,
  begun: boolean,
): Promise<Outcome | 'lost'> {
  const write = remoteWrite(mapping, row);
  const mark = correlationOf(planId, row);
  const done = async (record: RemoteRecord | null, sure: boolean): Promise<Outcome> => {
    const remoteId = row.remoteId ?? record?.id ?? null;
    const changes = bookChanges(mapping, row, { record: sure ? record : null, remoteId, cardId: row.cardId });
    const outcome: Outcome = { progress: 'applied', message: null, madeId: record?.id };
    await port.finish(row, outcome, changes);
    return outcome;
  };
  const end = async (progress: 'stale' | 'refused', message: string, changes: BookChange[] = []) => {
    const outcome: Outcome = { progress, message };
    await port.finish(row, outcome, changes);
    return outcome;
  };
  const check = row.expects.record ? (state: RemoteState) => remoteObjection(mapping, row, state) : null;
  let sent = begun;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (sent) {
      const trace = await port.trace(write, mark);
      // what the record holds by now may be somebody's later change; only what was sent is known to be agreed
      if (trace.kind === 'arrived') return await done(trace.record, false);
      if (trace.kind === 'unmarked') {
        const found = await foundByState(mapping, row, port);
        if (found.kind === 'arrived') return await done(null, false);
        if (found.kind === 'partly') return await end('stale', found.message, found.changes);
      }
    }
    const objects = (state: LocalState) => localObjection(mapping, row, state);
    const objection = sent ? objects(await port.stateOf(row)) : await port.begin(row, objects);
    if (objection !== null) return await end('stale', objection);
    sent = true;
    const answer = await port.writeRemote(write, mark, check);
    if (answer.kind === 'done') return await done(answer.record, true);
    if (answer.kind !== 'lost') return await end(answer.kind, answer.message);
  }
  return 'lost';
}

function remoteWrite(mapping: Mapping, row: PlanRow): RemoteWrite {
  const { table } = mapping;
  const id = row.remoteId ?? '';
  const column = new Map(mapping.fields.map(({ path, remote }) => [path, remote]));
  const values: Record<string, Value> = row.action === 'create' ? { ...mapping.defaults.remote } : {};
  for (const [path, { new: value }] of Object.entries(row.diff)) values[column.get(path) ?? path] = value;
  switch (row.action) {
    case 'create':
      return { kind: 'create', table, values };
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
  | { kind: 'partly'; message: string; changes: BookChange[] };

/**
 * What the present state tells about a write without a mark. All as it was sent: it has arrived. All as it was before:
 * it has not. Else somebody has written since; what is as it was sent is agreed on, and the next run sees to the rest.
 */
async function foundByState(mapping: Mapping, row: PlanRow, port: EnginePort): Promise<Found> {
  if (row.remoteId === null || row.link) return { kind: 'absent' };
  const state = await port.readRemote(mapping.table, row.remoteId);
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
