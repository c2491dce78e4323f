import { queryRows } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { noRuns, withLocalValues } from '../calculations/calculations.local.ts';
import { lockCalculations } from '../calculations/calculations.lock.ts';
import { noteRuns, recalculate } from '../calculations/recalculate.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { type StoredCard, typeOf } from './cards.load.ts';
import { rescored } from './cards.rows.ts';
import { emitComputed } from './cards.save.ts';
import { diffCard } from './rules/diff.ts';
import type { FilledSlots } from './rules/quality.ts';

/** What stands around a card that is yet to be made. */
export const nothingFilled: FilledSlots = { relations: new Set(), tagGroups: new Set(), roles: new Set() };

/**
 * Writes new cards in one statement, with an event for each, computed values included. What the unique indexes refuse is thrown as PostgreSQL
 * says it: callers stand in `guardUnique`, or look for themselves which card was in the way.
 */
export async function insertCards(work: Work, ctx: Ctx, given: StoredCard[]): Promise<void> {
  if (given.length === 0) return;
  await lockCalculations(work, new Set(given.map(({ type }) => type)));
  const runs = noRuns();
  const cards = given.map((card) => {
    const type = typeOf(work.metamodel, card);
    const computed = withLocalValues(work.metamodel, type, card, null, runs);
    return computed === card ? card : rescored(type, computed);
  });
  await queryRows(
    work.sql,
    `insert into cards (id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status,
       approval_status, data_quality, external_id, archived_at, archive_batch_id, created_by, updated_by)
     select v.id, v.type, v.subtype, v.name, v.alias, v.description, v.parent_id, v.lifecycle, v.attributes, v.status,
       v.approval_status, v.data_quality, v.external_id, v.archived_at, v.archive_batch_id, ?::uuid, ?::uuid
     from jsonb_to_recordset(?::jsonb) as v(id uuid, type text, subtype text, name text, alias text, description text,
       parent_id uuid, lifecycle jsonb, attributes jsonb, status text, approval_status text, data_quality numeric,
       external_id text, archived_at timestamptz, archive_batch_id uuid)`,
    [ctx.caller.userId, ctx.caller.userId, JSON.stringify(cards)],
  );
  const written = cards.map((after) => ({ before: null, after, changes: {} }));
  const computed = await recalculate(work, ctx, written, new Map(), runs);
  await noteRuns(work, runs);
  for (const made of cards) {
    const card = computed.get(made.id)?.after ?? made;
    computed.delete(made.id);
    const type = typeOf(work.metamodel, card);
    work.emit(cardEvent('card.created', type, card, diffCard(null, card)));
    work.raise(cardsTopic(type.key));
  }
  emitComputed(work, computed.values());
}

/** New ids, each greater than the one before. */
export async function newIds({ sql }: Pick<Work, 'sql'>, count: number): Promise<string[]> {
  if (count === 0) return [];
  const { rows } = await sql.raw('select uuidv7() as id from generate_series(1, ?)', [count]);
  return rows.map((row: { id: string }) => row.id);
}
