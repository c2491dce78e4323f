import { fragment, query, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { seedsOfType } from '../../inventory/calculations/recalculate.ts';
import {
  loadCards,
  lockCards,
  lockHierarchy,
  type StoredCard,
  writtenCard,
} from '../../inventory/cards/cards.load.ts';
import { CardMerge } from '../../inventory/cards/cards.model.ts';
import { summedKeys } from '../../inventory/cards/cards.rows.ts';
import { levelWrites, rescoreCards, saveCards } from '../../inventory/cards/cards.save.ts';
import { levelsAfter } from '../../inventory/cards/cards.tree.ts';
import { followMoved, undoMergeEvent } from '../../inventory/cards/merge/merge.attached.ts';
import { requireMergeRights } from '../../inventory/cards/merge/merge.command.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { forbidden, may } from '../../kernel/permissions/policy.ts';
import { type RowOf, requireRow } from '../../kernel/resources/rows.ts';
import type { BatchEvent, NotUndone } from '../../kernel/undo/undo.rows.ts';
import { isUpdate, type RollbackRequest, readEvents, runsOf, SPLIT, undoRun } from './batches.rollback.ts';
import { endsOf, undoCards } from './undo.cards.ts';
import { undoMethodOf } from './undo.rights.ts';

/** A written value or row of a merge that has changed since. */
interface MergeConflict {
  /** `card`, `relation`, `tag`, or the kind of attachment. */
  entity: string;
  id: string;
  /** The name as in events; null if the whole object is concerned. */
  field: string | null;
  /** `changed`, `missing`, or the code of the error that restoring it would cause. */
  code: string;
  message: string;
}

/** The maximum number of conflicts in a response. */
const MAX_NAMED = 100;

/** The error for an undo that could not restore everything. */
function mergeConflict(conflicts: MergeConflict[]): EstateError {
  return new EstateError(
    'merge_conflict',
    `${conflicts.length} ${conflicts.length === 1 ? 'thing has' : 'things have'} changed since the merge.`,
    { extra: { conflict_count: conflicts.length, conflicts: conflicts.slice(0, MAX_NAMED) } },
  );
}

const missingCard = (id: string, message: string): MergeConflict => ({
  entity: 'card',
  id,
  field: null,
  code: 'missing',
  message,
});

/**
 * Undoes a merge by undoing its events: the merged cards are restored with their ids, values, relations and attachments;
 * the changes of the merge to the survivor and dependent cards are reverted. Later writes to other fields and later
 * attachments of the survivor remain. `force` leaves what was changed since the merge, and restores the rest.
 * @throws EstateError `not_found`, `forbidden`, `wrong_state` when it was undone before or its events are no longer
 * stored, `merge_conflict` with the list of what has changed since.
 */
export async function undoMerge(ctx: Ctx, id: string, request: RollbackRequest) {
  return await commandWith(ctx, { dryRun: request.dry_run }, (work) => undo(work, ctx, id, request));
}

async function undo(work: Work, ctx: Ctx, id: string, { dry_run, force }: RollbackRequest) {
  const { sql } = work;
  await lockHierarchy(sql, 'exclusive');
  const merge = await requireRow(sql, CardMerge, 'merge', { id });
  const { survivor_id: survivorId, card_type: type } = merge;
  const { merged, events } = await eventsOfMerge(sql, merge);
  const touched = new Set([survivorId, ...events.flatMap(cardsOf)]);
  await lockCards(work, touched, 'update');
  const survivor = (await loadCards(work, ctx, [survivorId])).get(survivorId);
  requireMergeRights(ctx, [survivor ?? { id: survivorId, type, myRoles: [] }]);
  requireFormerCosts(ctx, work, events);
  if (merge.undone_at !== null) throw new EstateError('wrong_state', 'The merge was undone before.');
  if (!survivor) {
    throw mergeConflict([missingCard(survivorId, 'the surviving card was deleted, or merged itself')]);
  }
  if (!merged) {
    throw new EstateError(
      'wrong_state',
      'The events that an undo needs are not stored: they have expired, or an earlier version made the merge.',
    );
  }

  const conflicts = new Map<string, MergeConflict>();
  const add = (found: MergeConflict[]) => {
    for (const conflict of found) {
      conflicts.set(`${conflict.entity}/${conflict.id}/${conflict.field}`, conflict);
    }
  };
  try {
    const { possible, lost } = await withoutLostParents(sql, events);
    add(lost);
    const careful = updatedIn(possible);
    for (const run of runsOf(possible.filter(({ event_type }) => undoMethodOf(event_type)))) {
      const areCards = undoMethodOf(run[0]!.event_type) === 'card';
      const left = areCards
        ? await undoCards(work, ctx, run, careful, { isMerge: true })
        : await undoRun(work, ctx, run, careful);
      add(left.flatMap((one) => conflictsOf(work, one, run, survivor)));
    }
    await settleLevels(work, ctx, possible);
  } catch (error) {
    if (!(error instanceof EstateError) || error.status >= 500) throw error;
    const { card_id, existing_id = null } = error.extra;
    const message = `${error.message}${existing_id === null ? '' : ` (${existing_id})`}`;
    const refused = {
      entity: 'card',
      id: String(card_id ?? survivorId),
      field: null,
      code: error.code,
      message,
    };
    throw mergeConflict([...conflicts.values(), refused]);
  }
  const split = await followMoved(work, [survivorId, ...merge.merged.map((card) => card.id)]);
  if (split.length > 0) {
    add(split.map((row) => ({ ...row, field: null, code: 'split', message: SPLIT })));
    throw mergeConflict([...conflicts.values()]);
  }
  if (conflicts.size > 0 && !force) throw mergeConflict([...conflicts.values()]);

  await rescoreCards(work, ctx, touched, seedsOfType(work, type, [...touched]));
  const restored = merge.merged.map((card) => card.id);
  await work.extensions.stakeholdersChanged(work, type, [survivorId, ...restored]);
  await undoMergeEvent(work, ctx, merged);
  return {
    merge_id: merge.id,
    dry_run,
    survivor: await writtenCard(sql, ctx, survivorId),
    restored_card_ids: restored,
    conflicts: [...conflicts.values()],
  };
}

/** The event that names a merge, and those of its writes before it, newest first; none if some are no longer stored. */
async function eventsOfMerge(
  sql: Sql,
  { id, survivor_id }: Pick<RowOf<typeof CardMerge>, 'id' | 'survivor_id'>,
): Promise<{ merged?: BatchEvent; events: BatchEvent[] }> {
  const last = await query(sql).row<{ position: number; count: number }>`select position,
    (data ->> 'event_count')::int as count from events
    where card_id = ${survivor_id}::uuid and event_type = 'card.merged' and data ->> 'merge_id' = ${id}
    order by position limit 1`;
  if (!last) return { events: [] };
  const { position, count } = last;
  const range = fragment`position > ${position - count} and position <= ${position}`;
  const [merged, ...events] = await readEvents(sql, range, count);
  return merged && events.length === count - 1 ? { merged, events } : { events: [] };
}

/** The cards that an event concerns, their former parents included. */
function cardsOf(event: BatchEvent): string[] {
  const parent = event.data.changes.parent_id?.old as string | null | undefined;
  return [event.card_id, event.peer_card_id, parent, ...endsOf(event)].filter((id) => id != null);
}

/** The objects whose fields are only reverted if their values are still those that the merge wrote. */
function updatedIn(events: BatchEvent[]): Set<string> {
  return new Set(
    events.flatMap(({ event_type, id }) => {
      const method = undoMethodOf(event_type);
      return method && isUpdate(method, event_type) ? [`${event_type.split('.')[0]}/${id}`] : [];
    }),
  );
}

/**
 * Refuses to restore values that were costs at the time of the merge, if their field is no longer a cost: the undo
 * would reveal them.
 * @throws EstateError `forbidden` naming `costs.view`.
 */
function requireFormerCosts(ctx: Ctx, { metamodel }: Work, events: BatchEvent[]): void {
  if (may(ctx.caller, 'costs.view')) return;
  const areShown = events.some(({ event_type, card_type, cost_keys, data }) => {
    const type = event_type.startsWith('relation.')
      ? metamodel.relationTypes.get(String(data.type))
      : metamodel.cardTypes.get(String(card_type));
    const costs = type?.costKeys.map((key) => `attributes.${key}`) ?? [];
    return cost_keys?.some((key) => !costs.includes(key));
  });
  if (areShown) throw forbidden('costs.view');
}

/**
 * Parents may have been deleted, archived or merged since the merge.
 * @returns the events without the parents that no card can be below any more, and these cards.
 */
async function withoutLostParents(
  sql: Sql,
  events: BatchEvent[],
): Promise<{ possible: BatchEvent[]; lost: MergeConflict[] }> {
  const lost: MergeConflict[] = [];
  const ids = [...new Set(events.flatMap(cardsOf))];
  const cards: { id: string; status: string; parent_id: string | null }[] = await sql('cards')
    .whereIn('id', ids)
    .select('id', 'status', 'parent_id');
  const present = new Map(cards.map((card) => [card.id, card]));
  const statuses = new Map<unknown, unknown>(cards.map(({ id, status }) => [id, status]));
  for (const { event_type, id, data } of events) {
    if (event_type === 'card.deleted') statuses.set(id, data.changes.status!.old);
  }
  const possible = events.map((event) => {
    const { parent_id: parent, ...changes } = event.data.changes;
    if (!parent?.old || !event.event_type.startsWith('card.')) return event;
    const card = present.get(event.id);
    // It was moved again.
    if (card && card.parent_id !== parent.new) return event;
    const above = statuses.get(parent.old);
    if (above === 'ACTIVE' || (above && statuses.get(event.id) === 'ARCHIVED')) return event;
    lost.push(missingCard(event.id, `its parent ${parent.old} is no longer there or no longer active`));
    return { ...event, data: { ...event.data, changes } };
  });
  return { possible, lost };
}

/** The conflicts that keep an event from being undone; derived values, which are recomputed, are none. */
function conflictsOf(
  { metamodel }: Work,
  left: NotUndone,
  run: BatchEvent[],
  survivor: StoredCard,
): MergeConflict[] {
  const event = run.find(({ event_id }) => event_id === left.event_id)!;
  const entity = String(event.data.entity ?? event.event_type.split('.')[0]);
  const code = left.code === 'changed_later' ? 'changed' : left.code;
  if (!left.fields) return [{ entity, id: left.id, field: null, code, message: left.message }];
  const type = entity === 'card' ? metamodel.cardTypes.get(String(event.card_type)) : undefined;
  const sums = type && left.id === survivor.id ? summedKeys(type, survivor) : [];
  return left.fields.flatMap((field) => {
    const key = field.replace(/^attributes\./, '');
    const isDerived = field === 'data_quality' || sums.includes(key) || type?.fields.get(key)?.readonly;
    const message = code === 'changed' ? `${field} was changed after the merge` : left.message;
    return isDerived ? [] : [{ entity, id: left.id, field, code, message }];
  });
}

/** Checks that restored and moved cards form a hierarchy, and updates their levels. */
async function settleLevels(work: Work, ctx: Ctx, events: BatchEvent[]): Promise<void> {
  const placed = events.filter(
    ({ event_type, data }) =>
      event_type === 'card.deleted' || (event_type === 'card.updated' && data.changes.parent_id),
  );
  const ids = placed.map(({ id }) => id);
  const cards = await loadCards(work, ctx, ids);
  const moved = new Map([...cards.values()].map((card) => [card.id, card.parent_id]));
  const levels = await levelsAfter(work, { moved });
  await saveCards(work, ctx, levelWrites(work, await loadCards(work, ctx, levels.keys()), levels));
}
