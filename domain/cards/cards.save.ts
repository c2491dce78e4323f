import type { Knex } from 'knex';
import type { Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import type { EventType } from '../events/events.types.ts';
import type { CardType } from '../metamodel/metamodel.compile.ts';
import { cardEvent, cardsTopic } from './cards.events.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from './cards.load.ts';
import { guardUnique } from './cards.unique.ts';
import { approvalAfter } from './rules/approval.ts';
import { LEVEL_FIELD } from './rules/capability.ts';
import { type Changes, diffCard } from './rules/diff.ts';
import { dataQuality, qualityFacts } from './rules/quality.ts';

/** The card after a change of its content by hand: approval and data quality follow. */
export function settled(type: CardType, before: StoredCard, after: StoredCard): StoredCard {
  return rescored(type, {
    ...after,
    approval_status: approvalAfter(after.approval_status, diffCard(before, after)),
  });
}

/** The card with the data quality that follows from its values and surroundings. */
export function rescored(type: CardType, card: StoredCard): StoredCard {
  return { ...card, data_quality: dataQuality(type, card, qualityFacts(type, card.filled)) };
}

/** One card's change. */
export interface CardWrite {
  before: StoredCard;
  after: StoredCard;
  /** `card.updated` unless given. */
  event?: EventType;
}

/** A change as it was stored. */
export interface SavedCard extends CardWrite {
  changes: Changes;
}

/**
 * Writes changed cards in one statement, with an event for each; cards that do not differ are left alone.
 * @returns what was written.
 * @throws EstateError `sibling_name_taken`, `external_id_taken`.
 */
export async function saveCards(work: Work, ctx: Ctx, writes: CardWrite[]): Promise<SavedCard[]> {
  const changed = writes
    .map((write) => ({ ...write, changes: diffCard(write.before, write.after) }))
    .filter((write) => Object.keys(write.changes).length > 0);
  if (changed.length === 0) return [];
  const after = changed.map((write) => write.after);
  const update = (sql: Knex.Transaction) => updateRows(sql, ctx, after);
  if (changed.some((write) => mayClash(write.changes))) await guardUnique(work.sql, after, update);
  else await update(work.sql);
  for (const { before, after: card, changes, event } of changed) {
    const type = typeOf(work.metamodel, card);
    const archived = changes.status && (card.archive_batch_id ?? before.archive_batch_id);
    const more = archived ? { archive_batch_id: archived } : {};
    work.emit(cardEvent(event ?? 'card.updated', type, card, changes, more));
    work.raise(cardsTopic(type.key));
  }
  return changed;
}

/** Whether a change may meet another card in a unique index. */
function mayClash(changes: Changes): boolean {
  return (
    ['name', 'parent_id', 'external_id'].some((field) => field in changes) || changes.status?.new === 'ACTIVE'
  );
}

async function updateRows(sql: Knex.Transaction, ctx: Ctx, cards: StoredCard[]): Promise<void> {
  await sql.raw(
    `update cards c set
       subtype = v.subtype, name = v.name, alias = v.alias, description = v.description, parent_id = v.parent_id,
       lifecycle = v.lifecycle, attributes = v.attributes, external_id = v.external_id, status = v.status,
       approval_status = v.approval_status, data_quality = v.data_quality, archived_at = v.archived_at,
       archive_batch_id = v.archive_batch_id, updated_by = ?::uuid, updated_at = clock_timestamp()
     from jsonb_to_recordset(?::jsonb) as v(id uuid, subtype text, name text, alias text, description text,
       parent_id uuid, lifecycle jsonb, attributes jsonb, external_id text, status text, approval_status text,
       data_quality numeric, archived_at timestamptz, archive_batch_id uuid)
     where c.id = v.id`,
    [ctx.caller.userId, JSON.stringify(cards)] as never,
  );
}

/**
 * Computes the data quality of cards anew after something around them has changed (a relation, a tag, a
 * stakeholder), in the transaction of that change.
 */
export async function rescoreCards(work: Work, ctx: Ctx, ids: Iterable<string>): Promise<void> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return;
  await lockCards(work.sql, wanted);
  const cards = await loadCards(work, ctx, wanted);
  await saveCards(
    work,
    ctx,
    [...cards.values()].map((card) => ({
      before: card,
      after: rescored(typeOf(work.metamodel, card), card),
    })),
  );
}

/** The writes that give capabilities their levels; nobody changed their content, so approvals stay. */
export function levelWrites(
  work: Work,
  cards: Map<string, StoredCard>,
  levels: Map<string, string>,
): CardWrite[] {
  return [...levels].flatMap(([id, level]) => {
    const card = cards.get(id);
    if (!card) return [];
    const attributes = { ...card.attributes, [LEVEL_FIELD]: level };
    return { before: card, after: rescored(typeOf(work.metamodel, card), { ...card, attributes }) };
  });
}
