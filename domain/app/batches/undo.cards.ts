import { loadCards, lockCards, type StoredCard } from '../../inventory/cards/cards.load.ts';
import { deleteRelations, deleteRows } from '../../inventory/cards/cards.removal.ts';
import { type CardWrite, insertCards, nothingFilled, saveCards } from '../../inventory/cards/cards.save.ts';
import { guardUnique } from '../../inventory/cards/cards.unique.ts';
import { deleteTags } from '../../inventory/tags/tags.use.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import {
  type BatchEvent,
  changedLater,
  missing,
  type NotUndone,
  revertFields,
  type Values,
} from '../../kernel/undo/undo.rows.ts';

const nothing = {
  subtype: null,
  alias: null,
  description: null,
  parent_id: null,
  lifecycle: null,
  attributes: {},
  external_id: null,
  archived_at: null,
  archive_batch_id: null,
  myRoles: [],
  filled: nothingFilled,
};

/**
 * Undoes events of cards, newest first, as one write: created cards are deleted, deleted ones are restored with their
 * ids, and others get their old values. Under the exclusive hierarchy lock.
 */
export async function undoCards(
  work: Work,
  ctx: Ctx,
  events: BatchEvent[],
  careful: ReadonlySet<string>,
): Promise<NotUndone[]> {
  const ids = [...new Set(events.map(({ id }) => id))];
  await lockCards(work, ids, 'update');
  const stored = await loadCards(work, ctx, ids);
  const wanted = new Map<string, StoredCard | null>(stored);
  const lasts = new Map<string, BatchEvent>();
  const all: NotUndone[] = [];
  for (const event of events) {
    const card = wanted.get(event.id) ?? null;
    if (event.event_type === 'card.deleted') {
      const type = String(event.data.type);
      if (card) all.push(changedLater(event));
      else if (!work.metamodel.cardTypes.has(type)) all.push(missing(event, 'card type'));
      else {
        const base = {
          ...nothing,
          id: event.id,
          type,
          archive_batch_id: event.data.archive_batch_id ?? null,
        };
        wanted.set(event.id, back(base as never, event, false).card);
        lasts.set(event.id, event);
      }
    } else if (!card) all.push(missing(event, 'card'));
    else if (event.event_type === 'card.created') wanted.set(event.id, null);
    else {
      const { card: old, kept } = back(card, event, careful.has(`card/${event.id}`));
      if (kept.length > 0) all.push(changedLater(event, kept));
      wanted.set(event.id, old);
    }
  }

  const gone = [...stored.values()].filter((card) => wanted.get(card.id) === null);
  if (gone.length > 0) {
    await deleteRelations(
      work,
      ctx,
      gone.map(({ id }) => id),
    );
    await work.extensions.deleteWithCards(work, gone);
    await deleteTags(
      work,
      gone.map(({ id }) => id),
    );
    await deleteRows(work, ctx, gone);
  }
  await saveCards(
    work,
    ctx,
    [...stored.values()].flatMap((before): CardWrite[] => {
      const after = wanted.get(before.id);
      return after ? [{ before, after, event: eventOf(before, after) }] : [];
    }),
  );
  const made = [...wanted.values()].filter((card) => card !== null && !stored.has(card.id)) as StoredCard[];
  await bringBack(work, ctx, made, lasts);
  return all;
}

function back(card: StoredCard, { data }: BatchEvent, careful: boolean) {
  const { changes } = data;
  const values = { ...card, attributes: { ...card.attributes } };
  const kept = revertFields(values as never as Values, changes, careful);
  if (changes.status && !kept.includes('status')) {
    values.archive_batch_id =
      changes.status.old === 'ARCHIVED' ? ((data.archive_batch_id as string | undefined) ?? null) : null;
  } else if (data.archive_batch_was && !kept.includes('archived_at')) {
    values.archive_batch_id = String(data.archive_batch_was);
  }
  return { card: values, kept };
}

function eventOf(before: StoredCard, after: StoredCard): EventType {
  if (before.status === after.status) return 'card.updated';
  return after.status === 'ARCHIVED' ? 'card.archived' : 'card.restored';
}

async function bringBack(
  work: Work,
  ctx: Ctx,
  cards: StoredCard[],
  events: ReadonlyMap<string, BatchEvent>,
): Promise<void> {
  if (cards.length === 0) return;
  const undone = cards.map(({ id }) => events.get(id)!);
  await guardUnique(work.sql, cards, (sql) => insertCards({ ...work, sql }, ctx, cards));
  await work.sql.raw(
    `update cards c set created_by = v.created_by, created_at = coalesce(v.created_at, c.created_at)
     from jsonb_to_recordset(?::jsonb) as v(id uuid, created_by uuid, created_at timestamptz) where c.id = v.id`,
    [
      JSON.stringify(
        undone.map(({ id, data }) => ({
          id,
          created_at: data.created_at ?? null,
          created_by: data.created_by ?? null,
        })),
      ),
    ],
  );
}
