import type { Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { type StoredCard, typeOf } from './cards.load.ts';
import { diffCard } from './rules/diff.ts';
import type { FilledSlots } from './rules/quality.ts';

/** What stands around a card that is yet to be made. */
export const nothingFilled: FilledSlots = { relations: new Set(), tagGroups: new Set(), roles: new Set() };

/**
 * Writes new cards in one statement, with an event for each. What the unique indexes refuse is thrown as PostgreSQL
 * says it: callers stand in `guardUnique`, or look for themselves which card was in the way.
 */
export async function insertCards(work: Work, ctx: Ctx, cards: StoredCard[]): Promise<void> {
  if (cards.length === 0) return;
  await work.sql.raw(
    `insert into cards (id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status,
       approval_status, data_quality, external_id, archived_at, archive_batch_id, created_by, updated_by)
     select v.id, v.type, v.subtype, v.name, v.alias, v.description, v.parent_id, v.lifecycle, v.attributes, v.status,
       v.approval_status, v.data_quality, v.external_id, v.archived_at, v.archive_batch_id, ?::uuid, ?::uuid
     from jsonb_to_recordset(?::jsonb) as v(id uuid, type text, subtype text, name text, alias text, description text,
       parent_id uuid, lifecycle jsonb, attributes jsonb, status text, approval_status text, data_quality numeric,
       external_id text, archived_at timestamptz, archive_batch_id uuid)`,
    [ctx.caller.userId, ctx.caller.userId, JSON.stringify(cards)] as never,
  );
  for (const card of cards) {
    const type = typeOf(work.metamodel, card);
    work.emit(cardEvent('card.created', type, card, diffCard(null, card)));
    work.raise(cardsTopic(type.key));
  }
}

/** New ids, each greater than the one before. */
export async function newIds({ sql }: Pick<Work, 'sql'>, count: number): Promise<string[]> {
  if (count === 0) return [];
  const { rows } = await sql.raw('select uuidv7() as id from generate_series(1, ?)', [count]);
  return rows.map((row: { id: string }) => row.id);
}
