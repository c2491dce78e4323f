import Type from 'typebox';
import { embed, fragment, query, type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { lockHierarchy } from '../../inventory/cards/cards.load.ts';
import { rescoreCards } from '../../inventory/cards/cards.save.ts';
import { followMoved } from '../../inventory/cards/merge/merge.attached.ts';
import { attempt, commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { bufferEvents } from '../../kernel/events/events.buffer.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { arrayOf, Count, Nullable, OpenObject, object, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import {
  type BatchEvent,
  type NotUndone,
  notUndone,
  notUndoneMembers,
  undoRow,
} from '../../kernel/undo/undo.rows.ts';
import type { UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { canBeDeletedWithCards, deletedWithCards } from '../../kernel/undo/undo.with-cards.ts';
import { type BatchConflict, batchConflict, findConflicts } from './batches.conflicts.ts';
import { endsOf, undoCards, undoRelations } from './undo.cards.ts';
import { ignoredEvents, refusalOf, requireUndoRights, undoMethodOf } from './undo.rights.ts';

/** Maximum number of events undone by one statement. */
const PAGE = 1000;
/** Maximum number of operations and of remaining objects in a report. */
const MAX_NAMED = 1000;

/** The message for rows that refer to rows of several cards. */
export const SPLIT = 'It connects objects of cards that the undo separates; delete it first.';

export interface RollbackRequest {
  dry_run: boolean;
  force: boolean;
}

/** The result of a rollback, or its preview. */
export const rollbackReport = {
  operations: arrayOf(
    {
      event_id: Uuid,
      op: Type.String({ examples: ['restore_card_fields'] }),
      id: Type.String(),
      card_id: Nullable(Uuid),
      fields: OpenObject,
    },
    { description: 'The undone events, newest first; at most 1,000' },
  ),
  unsupported_events: arrayOf(
    { event_type: Type.String(), count: Type.Integer(), reason: Type.String() },
    { description: 'Events that cannot be undone, because of which the rollback is refused' },
  ),
  conflicts: arrayOf(batchConflict, {
    description: 'The last later writes to objects of the batch; at most 1,000; empty without `admin.events`',
  }),
  conflict_count: Count,
  left: arrayOf(notUndoneMembers, { description: 'Events that are skipped even with `force`' }),
  counts: object({ undone: Type.Integer(), left: Type.Integer() }),
  event_count: Count,
  dry_run: Type.Boolean(),
};
export type RollbackReport = StaticOf<typeof rollbackReport>;

/** Hooks of a job at the start and the end of the transaction, and between pages. */
export interface RollbackSteps {
  begin?(work: Work): Promise<void>;
  /** Called with the share of events that are undone, 0 to 1; may throw to stop. */
  page?(done: number): void;
  end?(work: Work, report: RollbackReport): Promise<void>;
}

/** The number of events in the batch, by event type. @throws EstateError `not_found`. */
export async function countEvents(sql: Sql, id: string): Promise<{ type: EventType; count: number }[]> {
  if (!(await sql('mutation_batches').where({ id }).first('id'))) throw notFound('batch', id);
  return await query(sql).rows`select event_type as type, count(*)::int as count from events
    where batch_id = ${id}::uuid group by 1 order by 1`;
}

type EventCounts = Awaited<ReturnType<typeof countEvents>>;

/** The events that cannot be undone, with the reason. */
const unsupportedIn = (types: EventCounts): RollbackReport['unsupported_events'] =>
  types.flatMap(({ type, count }) => {
    const reason = refusalOf(type);
    return reason ? [{ event_type: type, count, reason }] : [];
  });

/** @throws EstateError `rollback_unsupported` naming the events that cannot be undone. */
export function requireSupported(types: EventCounts): void {
  const unsupported_events = unsupportedIn(types);
  if (unsupported_events.length === 0) return;
  const names = unsupported_events.map(({ event_type }) => event_type).join(', ');
  const detail = `The batch contains writes that cannot be undone: ${names}.`;
  throw new EstateError('rollback_unsupported', detail, { extra: { unsupported_events } });
}

/**
 * Undoes a closed batch completely, newest event first, in one transaction that is itself a batch. It is refused before
 * anything is undone if it contains events that cannot be undone, or if later writes have changed the same objects;
 * `force` skips those objects.
 * @throws EstateError `not_found`, `forbidden` without the rights that the undone writes needed, `wrong_state`,
 * `rollback_unsupported`, `rollback_conflicts`.
 */
export async function rollBack(
  ctx: Ctx,
  id: string,
  request: RollbackRequest,
  steps: RollbackSteps = {},
): Promise<RollbackReport> {
  const types = await countEvents(ctx.db, id);
  const changesMetamodel = types.some(({ type }) => {
    const undoing = undoMethodOf(type);
    return typeof undoing === 'object' && undoing.changesMetamodel === true;
  });
  return await commandWith(ctx, { dryRun: request.dry_run, changesMetamodel }, async (outer) => {
    await steps.begin?.(outer);
    await requireUndoRights(ctx, outer.sql, id);
    await requireStanding(outer.sql, id);
    if (!request.dry_run) requireSupported(types);
    const unsupported_events = unsupportedIn(types);
    const conflicts = await findConflicts(outer.sql, id);
    const event_count = types.reduce((sum, { count }) => sum + count, 0);
    const report: RollbackReport = {
      operations: [],
      unsupported_events,
      conflicts: may(ctx.caller, 'admin.events') ? conflicts.slice(0, MAX_NAMED) : [],
      conflict_count: conflicts.length,
      left: [],
      counts: { undone: 0, left: 0 },
      event_count,
      dry_run: request.dry_run,
    };
    const refused = unsupported_events.length > 0 || (conflicts.length > 0 && !request.force);
    if (refused && request.dry_run) return report;
    if (refused) {
      throw new EstateError('rollback_conflicts', 'Later batches have changed what this one wrote.', {
        extra: { conflicts: report.conflicts, conflict_count: report.conflict_count },
      });
    }
    const undoing = { id, types: types.map(({ type }) => type), request, report, conflicts, steps };
    await undoAll(outer, ctx, undoing);
    await mark(outer, ctx, id);
    if (!request.dry_run) await steps.end?.(outer, report);
    return report;
  });
}

async function requireStanding(sql: Sql, id: string): Promise<void> {
  const rows = await query(sql).rows`select committed_at, rolled_back_by from mutation_batches
    where id = ${id}::uuid for update`;
  if (!rows[0]) throw notFound('batch', id);
  if (rows[0].committed_at === null) throw new EstateError('wrong_state', 'The batch is still open.');
  if (rows[0].rolled_back_by !== null)
    throw new EstateError('wrong_state', 'The batch has been rolled back already.');
}

async function mark({ sql, emit }: Work, ctx: Ctx, id: string): Promise<void> {
  // Events that this batch had undone apply again.
  await query(sql).run`update mutation_batches set rolled_back_by = null, rolled_back_at = null
    where rolled_back_by = ${id}`;
  await query(sql).run`update mutation_batches
    set rolled_back_by = ${ctx.batch.id}, rolled_back_at = clock_timestamp() where id = ${id}`;
  emit({ event_type: 'mutation_batch.rolled_back', data: { id, rolled_back_by: ctx.batch.id } });
}

interface Undoing {
  id: string;
  types: EventType[];
  request: RollbackRequest;
  report: RollbackReport;
  conflicts: BatchConflict[];
  steps: RollbackSteps;
}

async function undoAll(
  outer: Work,
  ctx: Ctx,
  { id, types, request, report, conflicts, steps }: Undoing,
): Promise<void> {
  const goes = canBeDeletedWithCards(types);
  let done = 0;
  const held = await bufferEvents(outer, ctx);
  const { work } = held;
  const conflicted = new Set(conflicts.map((conflict) => `${conflict.entity}/${conflict.id}`));
  const touched = new Set<string>();
  const swapped = new Set<string>();
  await lockHierarchy(work.sql, 'exclusive');
  let before = '9223372036854775807';
  for (;;) {
    const earlier = fragment`batch_id = ${id}::uuid and position < ${before}`;
    const events = await readEvents(work.sql, earlier, PAGE);
    if (events.length === 0) break;
    const going = goes ? await deletedWithCards(work.sql, id, events, conflicted) : new Set();
    const running = events.filter((event) => going.has(event));
    reportRun(ctx, report, running, []);
    for (const run of runsOf(events.filter((event) => !going.has(event)))) {
      const lefts = await undoRun(work, ctx, run, conflicted);
      if (lefts.length > 0 && !request.force) {
        throw new EstateError('rollback_conflicts', `${lefts[0]!.event_type}: ${lefts[0]!.message}`, {
          extra: { left: lefts.slice(0, MAX_NAMED) },
        });
      }
      reportRun(ctx, report, run, lefts);
      for (const event of run) {
        if (event.event_type === 'attachment.moved') {
          const { old, new: present } = event.data.changes.card_id!;
          swapped.add(String(old)).add(String(present));
        }
        for (const card of [event.card_id, event.peer_card_id]) if (card) touched.add(card);
        if (undoMethodOf(event.event_type) === 'relation')
          for (const card of endsOf(event)) touched.add(card);
      }
    }
    await held.flush();
    before = String(events.at(-1)!.position);
    done += events.length;
    steps.page?.(done / report.event_count);
  }
  const split = swapped.size > 0 ? await followMoved(work, [...swapped]) : [];
  if (split.length > 0) {
    throw new EstateError('rollback_conflicts', SPLIT, { extra: { left: split.slice(0, MAX_NAMED) } });
  }
  await held.flush();
  const cards = [...touched];
  for (let from = 0; from < cards.length; from += PAGE) {
    await rescoreCards(work, ctx, cards.slice(from, from + PAGE));
    await held.flush();
  }
  try {
    await work.sql.transaction((sql) => query(sql).run`set constraints all immediate`);
  } catch (error) {
    if (sqlState(error) !== '23503') throw error;
    throw new EstateError('rollback_conflicts', 'Later batches build on what this one wrote.');
  }
  if (!request.dry_run) await held.record();
}

/** Events with all that their undo needs, newest first. */
export async function readEvents(sql: Sql, where: Fragment, limit: number): Promise<BatchEvent[]> {
  return await query(sql).rows`select id as event_id, position, event_type, data ->> 'id' as id,
    card_id, card_type, peer_card_id,
       peer_card_type, recipient_id, scope, cost_keys, data
     from events where ${embed(where)} order by position desc limit ${limit}`;
}

/** Groups adjacent events that are undone together: cards with cards, relations with relations, others individually. */
export function* runsOf(events: BatchEvent[]): Generator<BatchEvent[]> {
  let run: BatchEvent[] = [];
  for (const event of events) {
    if (ignoredEvents.includes(event.event_type)) continue;
    const kind = undoMethodOf(event.event_type);
    if (run.length > 0 && (typeof kind === 'object' || undoMethodOf(run[0]!.event_type) !== kind)) {
      yield run;
      run = [];
    }
    run.push(event);
  }
  if (run.length > 0) yield run;
}

/** Undoes a group together or, if that is refused, one at a time, so that the report names the conflicting object. */
export async function undoRun(
  work: Work,
  ctx: Ctx,
  run: BatchEvent[],
  conflicted: ReadonlySet<string>,
): Promise<NotUndone[]> {
  const outcome = await undoTogether(work, ctx, run, conflicted);
  if (Array.isArray(outcome)) return outcome;
  if (run.length === 1) return [notUndone(run[0]!, outcome)];
  const lefts: NotUndone[] = [];
  for (const event of run) lefts.push(...(await undoRun(work, ctx, [event], conflicted)));
  return lefts;
}

/** Within a savepoint: a refusal leaves neither writes nor events. */
async function undoTogether(
  work: Work,
  ctx: Ctx,
  run: BatchEvent[],
  conflicted: ReadonlySet<string>,
): Promise<NotUndone[] | UndoRefusal> {
  try {
    const outcome = await attempt(work, async (inner) => {
      const lefts = await act(inner, ctx, run, conflicted);
      work.metamodel = inner.metamodel;
      return lefts;
    });
    return outcome.ok ? outcome.value : { code: outcome.error.code, message: outcome.error.message };
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    if (!['23503', '23505'].includes(sqlState(error) ?? '')) throw error;
    const message = 'Another object has taken its place, or the object that it belongs to was deleted.';
    return { code: 'conflict', message };
  }
}

class Refused extends Error {
  readonly refusal: UndoRefusal;
  constructor(refusal: UndoRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

async function act(
  work: Work,
  ctx: Ctx,
  run: BatchEvent[],
  conflicted: ReadonlySet<string>,
): Promise<NotUndone[]> {
  const kind = undoMethodOf(run[0]!.event_type)!;
  const key = (event: BatchEvent) => `${event.event_type.split('.')[0]}/${event.id}`;
  const whole = run.filter((event) => conflicted.has(key(event)) && !isUpdate(kind, event.event_type));
  const lefts = whole.map((event) =>
    notUndone(event, {
      code: 'changed_later',
      message: 'A later batch has changed it, or what belongs to it.',
    }),
  );
  const rest = run.filter((event) => !whole.includes(event));
  if (rest.length === 0) return lefts;
  if (kind === 'card') return [...lefts, ...(await undoCards(work, ctx, rest, conflicted))];
  if (kind === 'relation') return [...lefts, ...(await undoRelations(work, ctx, rest, conflicted))];
  const event = rest[0]!;
  if (kind.undo) {
    const refusal = await kind.undo(work, ctx, event);
    if (refusal) throw new Refused(refusal);
    return lefts;
  }
  const standing = await kind.check?.(work, event);
  if (standing) throw new Refused(standing);
  const one = await undoRow(work, kind, event, conflicted.has(key(event)));
  const refusal = await kind.settle?.(work, ctx, event);
  if (refusal) throw new Refused(refusal);
  return one ? [...lefts, one] : lefts;
}

/** Whether an event is undone field by field. */
export function isUpdate(kind: 'card' | 'relation' | UndoSpec, type: EventType): boolean {
  if (typeof kind === 'string') return !/\.(created|deleted)$/.test(type);
  return !kind.undo && kind.events.updated?.includes(type) === true;
}

function reportRun(ctx: Ctx, report: RollbackReport, run: BatchEvent[], lefts: NotUndone[]): void {
  const whole = new Set(lefts.filter(({ fields }) => !fields).map(({ event_id }) => event_id));
  report.counts.left += whole.size;
  report.counts.undone += run.length - whole.size;
  report.left.push(...lefts.slice(0, MAX_NAMED - report.left.length));
  for (const event of run) {
    if (report.operations.length >= MAX_NAMED) return;
    if (!whole.has(event.event_id)) report.operations.push(operationOf(ctx, event));
  }
}

function operationOf(ctx: Ctx, event: BatchEvent) {
  const entity = event.event_type.split('.')[0];
  const op = /[._](created|added|uploaded)$/.test(event.event_type)
    ? `delete_${entity}`
    : /[._](deleted|removed)$/.test(event.event_type)
      ? `restore_${entity}`
      : `restore_${entity}_fields`;
  const hidden = may(ctx.caller, 'costs.view') ? [] : (event.cost_keys ?? []);
  const fields = op.startsWith('delete_')
    ? {}
    : Object.fromEntries(
        Object.entries(event.data.changes ?? {})
          .filter(([field]) => !hidden.includes(field))
          .map(([field, { old }]) => [field, old]),
      );
  return { event_id: event.event_id, op, id: event.id, card_id: event.card_id, fields };
}
