import type { Ctx, Work } from '../../../kernel/context.ts';
import type { EventType } from '../../../kernel/events/events.catalogue.ts';
import type { UndoneEvent, UndoRefusal } from '../../../kernel/undo/undo.types.ts';
import { movedEvent, ownerOf } from './merge.attached.ts';

const missing = (what: string): UndoRefusal => ({ code: 'missing', message: `The ${what} does not exist.` });

/** Moves a row back to the card to which it was attached. */
export async function undoMove(work: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const reference = work.extensions.cardReferences.find(({ entity }) => entity === event.data.entity);
  const { old, new: present } = event.data.changes.card_id as { old: string; new: string };
  const card = await work.sql('cards').where({ id: old }).first('type');
  if (!reference || !card) return missing('card');
  const { table, column } = reference;
  const { rows } = await work.sql.raw(
    `update ${table} set ${column} = ?::uuid where id = ?::uuid and ${column} = ?::uuid returning ${ownerOf(reference)} as owner`,
    [old, event.id, present],
  );
  if (!rows[0]) return missing(reference.entity);
  const type = work.metamodel.cardTypes.get(card.type)!;
  work.emit(movedEvent(reference, type, { id: event.id, from: present, to: old, owner: rows[0].owner }));
  return null;
}

/** Removes the redirects of a merge whose other writes are undone one by one, or restores them. */
export async function undoMerge(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const id = String(event.data.merge_id);
  const merge = await sql('card_merges').where({ id }).forUpdate().first('survivor_id', 'merged');
  if (!merge) return missing('merge');
  const ends = event.event_type === 'card.merged';
  await sql('card_redirects').where({ merge_id: id }).delete();
  await sql('card_merges')
    .where({ id })
    .update(
      ends ? { undone_by: ctx.caller.userId, undone_at: sql.fn.now() } : { undone_by: null, undone_at: null },
    );
  if (!ends) {
    await sql('card_redirects').insert(
      merge.merged.map((card: { id: string }) => ({
        card_id: card.id,
        survivor_id: merge.survivor_id,
        merge_id: id,
      })),
    );
  }
  const event_type: EventType = ends ? 'card.unmerged' : 'card.merged';
  const { changes: _, ...data } = event.data;
  work.emit({
    event_type,
    card_id: event.card_id,
    card_type: String(data.type),
    data: { ...data, changes: {} },
  });
  return null;
}
