import { embed, query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { loadCards, lockCards, type StoredCard } from '../../inventory/cards/cards.load.ts';
import { deleteRelations, deleteRows } from '../../inventory/cards/cards.removal.ts';
import { type CardWrite, insertCards, noFilledSlots, saveCards } from '../../inventory/cards/cards.save.ts';
import { findCollisions, guardUnique, takenKeyError } from '../../inventory/cards/cards.unique.ts';
import { presentChanges } from '../../inventory/metamodel/changes/values.diff.ts';
import { loadCompeting } from '../../inventory/relations/relations.load.ts';
import type { StoredRelation } from '../../inventory/relations/relations.model.ts';
import { type NamedEnd, saveRelations } from '../../inventory/relations/relations.save.ts';
import { createWorkingSet } from '../../inventory/relations/relations.working-set.ts';
import { deleteTags } from '../../inventory/tags/tags.cards.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import {
  type BatchEvent,
  changedLater,
  missing,
  type NotUndone,
  notUndone,
  revertFields,
} from '../../kernel/undo/undo.rows.ts';

const nothing = {
  number: null,
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
  filled: noFilledSlots,
};

/**
 * Undoes events of cards, newest first, as one write: created cards are deleted, deleted ones are restored with their
 * ids, and others get their old values. Under the exclusive hierarchy lock.
 * @param options.isMerge the lines of the cards are undone later, and their sums recomputed then; names and external ids
 * that other cards have taken are not restored.
 */
export async function undoCards(
  work: Work,
  ctx: Ctx,
  events: BatchEvent[],
  careful: ReadonlySet<string>,
  { isMerge = false }: { isMerge?: boolean } = {},
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
        wanted.set(event.id, back(work, base as never, event, false).card);
        lasts.set(event.id, event);
      }
    } else if (!card) all.push(missing(event, 'card'));
    else if (event.event_type === 'card.created') wanted.set(event.id, null);
    else {
      const { card: old, kept } = back(work, card, event, careful.has(`card/${event.id}`));
      if (kept.length > 0) all.push(changedLater(event, kept));
      wanted.set(event.id, isMerge ? { ...old, sums: {} } : old);
    }
  }

  if (isMerge) all.push(...(await leaveTaken(work, wanted, stored, events)));
  const gone = [...stored.values()].filter((card) => wanted.get(card.id) === null);
  if (gone.length > 0) {
    const goneIds = gone.map(({ id }) => id);
    await deleteRelations(work, ctx, goneIds);
    await work.extensions.deleteWithCards(work, gone);
    await deleteTags(work, goneIds);
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

/** The card before an event, as far as the present metamodel allows its values. */
function back({ metamodel }: Work, card: StoredCard, { data }: BatchEvent, careful: boolean) {
  const changes = presentChanges(data.changes, metamodel.cardTypes.get(card.type)!);
  const values = { ...card, attributes: { ...card.attributes } };
  const kept = revertFields(values, changes, careful);
  if (changes.status && !kept.includes('status')) {
    values.archive_batch_id =
      changes.status.old === 'ARCHIVED' ? ((data.archive_batch_id as string | undefined) ?? null) : null;
  } else if (data.archive_batch_was && !kept.includes('archived_at')) {
    values.archive_batch_id = String(data.archive_batch_was);
  }
  return { card: values, kept };
}

/**
 * Leaves names, parents and external ids as they are where another card has taken them.
 * @throws EstateError `sibling_name_taken` for a deleted card, which cannot be restored without its name.
 */
async function leaveTaken(
  { sql }: Work,
  wanted: Map<string, StoredCard | null>,
  stored: ReadonlyMap<string, StoredCard>,
  events: BatchEvent[],
): Promise<NotUndone[]> {
  const cards = [...wanted.values()].filter((card) => card !== null);
  const left: NotUndone[] = [];
  for (const { id, index, existing_id } of await findCollisions(sql, cards)) {
    const error = takenKeyError(index, existing_id);
    const present = stored.get(id);
    if (index === 'cards_sibling_name' && !present) {
      throw new EstateError('sibling_name_taken', error.message, { extra: { card_id: id, existing_id } });
    }
    const card = wanted.get(id)!;
    const fields = index === 'cards_external_id' ? ['external_id'] : ['name', 'parent_id'];
    const values =
      index === 'cards_external_id'
        ? { external_id: present?.external_id ?? null }
        : { name: present!.name, parent_id: present!.parent_id };
    wanted.set(id, { ...card, ...values });
    const event = events.find((one) => one.id === id)!;
    const changed = fields.filter((field) => events.some((one) => one.id === id && one.data.changes[field]));
    left.push(notUndone(event, { code: error.code, message: `${error.message} (${existing_id})` }, changed));
  }
  return left;
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
  await restoreCreation(work, 'cards', undone);
}

/** Sets who created restored rows, and when. */
async function restoreCreation({ sql }: Work, table: 'cards' | 'relations', events: BatchEvent[]) {
  const rows = events.map(({ id, data: { created_at, created_by } }) => ({ id, created_at, created_by }));
  await query(sql).run`update ${embed(table)} t
    set created_by = v.created_by, created_at = coalesce(v.created_at, t.created_at)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as v(id uuid, created_by uuid, created_at timestamptz)
    where t.id = v.id`;
}

/** The cards at the ends of a relation, before and after the write: a merge moves ends. */
export function endsOf({ data }: BatchEvent): string[] {
  const { source_id, target_id } = data.changes;
  const ends = [
    data.source_id,
    data.target_id,
    source_id?.old,
    source_id?.new,
    target_id?.old,
    target_id?.new,
  ];
  return [...new Set(ends.filter((end) => typeof end === 'string'))];
}

/** Undoes events of relations, newest first, as one write; the data quality of their cards is updated. */
export async function undoRelations(
  work: Work,
  ctx: Ctx,
  events: BatchEvent[],
  careful: ReadonlySet<string>,
): Promise<NotUndone[]> {
  const { sql, metamodel } = work;
  const endIds = new Set(events.flatMap(endsOf));
  await lockCards(work, endIds);
  const cards = await query(sql).rows`select id, name, type from cards
    where id = any(${[...endIds]}::uuid[])`;
  const ends = new Map<string, NamedEnd>(cards.map((card: NamedEnd) => [card.id, card]));
  const rows = await query(sql).rows`select id, type, source_id, target_id, attributes,
    description from relations
     where id = any(${[...new Set(events.map(({ id }) => id))]}::uuid[]) order by id for update`;
  const stored = new Map<string, StoredRelation>(rows.map((row: StoredRelation) => [row.id, row]));
  const wanted = new Map<string, StoredRelation | null>(stored);
  const deleted = new Map<string, BatchEvent>();
  const all: NotUndone[] = [];
  for (const event of events) {
    const { data, id } = event;
    const relation = wanted.get(id) ?? null;
    const type = String(data.type);
    const definition = metamodel.relationTypes.get(type);
    const [source_id, target_id] = [String(data.source_id), String(data.target_id)];
    if (!definition) {
      all.push(missing(event, 'relation type'));
      continue;
    }
    const changes = presentChanges(data.changes, definition);
    if (!endsOf(event).every((end) => ends.has(end))) all.push(missing(event, 'card'));
    else if (event.event_type === 'relation.deleted') {
      if (relation) all.push(changedLater(event));
      else {
        const values = { id, type, source_id, target_id, attributes: {}, description: null };
        revertFields(values, changes, false);
        wanted.set(id, values);
        deleted.set(id, event);
      }
    } else if (!relation) all.push(missing(event, 'relation'));
    else if (event.event_type === 'relation.created') wanted.set(id, null);
    else {
      const values = { ...relation, attributes: { ...relation.attributes } };
      const kept = revertFields(values, changes, careful.has(`relation/${id}`));
      if (kept.length > 0) all.push(changedLater(event, kept));
      wanted.set(id, values);
    }
  }
  all.push(...(await leaveOutExceeding(work, wanted, deleted, stored)));
  const writes = [...wanted.keys()].map((id) => ({
    before: stored.get(id) ?? null,
    after: wanted.get(id) ?? null,
  }));
  const changed = writes.filter(({ before, after }) => before || after);
  await saveRelations(work, ctx, changed, ends);
  const made = [...deleted].filter(([id]) => wanted.get(id) && !stored.has(id));
  const creations = made.map(([, event]) => event);
  await restoreCreation(work, 'relations', creations);
  return all;
}

/**
 * Leaves out restored relations that would exceed the cardinality of their type.
 * @returns their events.
 */
async function leaveOutExceeding(
  { sql, metamodel }: Work,
  wanted: Map<string, StoredRelation | null>,
  deleted: ReadonlyMap<string, BatchEvent>,
  stored: ReadonlyMap<string, StoredRelation>,
): Promise<NotUndone[]> {
  const made = [...deleted.keys()].flatMap((id) => (stored.has(id) ? [] : (wanted.get(id) ?? [])));
  const typeOf = ({ type }: StoredRelation) => metamodel.relationTypes.get(type)!;
  const places = made.map((relation) => ({ ...relation, type: typeOf(relation) }));
  const competing = await loadCompeting(sql, places);
  const others = [...stored.keys()].flatMap((id) => wanted.get(id) ?? []);
  const workingSet = createWorkingSet([...competing.filter(({ id }) => !wanted.has(id)), ...others]);
  return made.flatMap((relation) => {
    try {
      workingSet.requireCardinality(typeOf(relation), relation);
      workingSet.put(relation);
      return [];
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      wanted.set(relation.id, null);
      return [notUndone(deleted.get(relation.id)!, { code: error.code, message: error.message })];
    }
  });
}
