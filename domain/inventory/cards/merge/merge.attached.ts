import { embed, query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { CardReference, Ctx, Work } from '../../../kernel/context.ts';
import type { EventType } from '../../../kernel/events/events.catalogue.ts';
import type { EventDraft, StoredRow } from '../../../kernel/events/row-changes.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { UndoneEvent, UndoRefusal } from '../../../kernel/undo/undo.types.ts';
import type { RelationWrite } from '../../relations/relations.save.ts';
import { deleteTags, tagEvent } from '../../tags/tags.cards.ts';
import type { StoredCard } from '../cards.load.ts';
import type { Changes } from '../rules/diff.ts';

/** A row that was moved to the survivor. */
interface MovedRow {
  table: string;
  /** Absent in old journals, when each table had only one column that refers to cards. */
  column?: string;
  id: string;
  /** The merged card that it referenced before. */
  from: string;
}

/** A row that was deleted because the survivor has an equivalent one. */
interface RemovedRow {
  table: string;
  /** The display name of the user that it names. */
  user: string;
  row: StoredRow;
}

interface MergedAttachments {
  moved: MovedRow[];
  removed: RemovedRow[];
}

/** The cards of a merge. */
export interface MergedCards {
  type: CardType;
  survivor: StoredCard;
  merged: StoredCard[];
}

/**
 * The event of a row that references another card now; `owner` is the only user concerned, null if it concerns all
 * users.
 */
export function movedEvent(
  { entity }: CardReference,
  type: CardType,
  row: { id: string; from: string; to: string; owner: string | null },
): EventDraft {
  const { id, from, to, owner } = row;
  return {
    event_type: 'attachment.moved',
    ...(owner === null ? {} : { scope: 'user' as const, recipient_id: owner }),
    card_id: to,
    card_type: type.key,
    data: { id, entity, changes: { card_id: { old: from, new: to } } },
  };
}

/** The owner of a row of the table, as SQL. */
export const ownerOf = ({ table, owner }: CardReference): string =>
  owner ? `${table}.${owner}` : 'null::uuid';

/**
 * Moves all rows that reference the merged cards to the survivor, two statements for each table, with an event for each
 * row.
 */
export async function moveAttached(work: Work, cards: MergedCards): Promise<MergedAttachments> {
  const { sql, emit } = work;
  const { type, survivor, merged } = cards;
  const gone = merged.map((card) => card.id);
  const result: MergedAttachments = { moved: [], removed: [] };
  for (const reference of work.extensions.cardReferences) {
    const { table, column } = reference;
    if (reference.once) result.removed.push(...(await removeDoubles(work, reference, cards)));
    const rows = await query(sql).rows`with moved as (
         update ${embed(table)} set ${embed(column)} = ${survivor.id}::uuid
         where ${embed(column)} = any(${gone}::uuid[]) 
         returning new.id, old.${embed(column)} as "from", ${embed(ownerOf(reference))} as owner
       ) select * from moved order by id`;
    for (const { id, from, owner } of rows as { id: string; from: string; owner: string | null }[]) {
      result.moved.push({ table, column, id, from });
      emit(movedEvent(reference, type, { id, from, to: survivor.id, owner }));
    }
  }
  return result;
}

/** Deletes rows for which the survivor or an earlier merged card has an equivalent, or has one that takes precedence. */
async function removeDoubles(
  { sql, emit }: Work,
  { table, column, once }: CardReference,
  { type, survivor, merged }: MergedCards,
): Promise<RemovedRow[]> {
  const { by, only = 'true', event } = once!;
  const order = [survivor.id, ...merged.map((card) => card.id)];
  const rows = await query(sql).rows`with ranked as (
       select id, row_number() over (partition by ${embed(by.join(', '))}
         order by ${embed(only)}, array_position(${order}::uuid[], ${embed(column)}), id) as place
       from ${embed(table)} t where ${embed(column)} = any(${order}::uuid[])
     ), gone as (
       delete from ${embed(table)} t using ranked r where r.id = t.id and r.place > 1 and ${embed(only)}
       returning to_jsonb(t) as row, (to_jsonb(t) ->> 'user_id')::uuid as user_id
     )
     select gone.row, coalesce(u.display_name, '') as user
     from gone left join users u on u.id = gone.user_id order by gone.row ->> 'id'`;
  const byId = new Map([survivor, ...merged].map((card) => [card.id, card]));
  return rows.map(({ row, user }: { row: StoredRow; user: string }) => {
    emit(event(byId.get(row[column] as string)!, type, row, user, true));
    return { table, user, row };
  });
}

/** A tag of one of the cards. */
interface CardTag {
  card_id: string;
  tag_id: string;
  tag_group_id: string;
  mode: 'single' | 'multi';
  name: string;
  group_name: string;
}

/** Tags that were added to the survivor, and tags that could not be added. */
interface MergedTags {
  added: string[];
  /** From groups that allow one tag for each card. */
  dropped: { id: string; name: string; group_name: string }[];
}

/**
 * Moves the tags of the merged cards to the survivor; in a group that allows one tag, the survivor's own tag remains.
 */
export async function mergeTags(work: Work, { survivor, merged }: MergedCards): Promise<MergedTags> {
  const { sql, emit } = work;
  const order = [survivor.id, ...merged.map((card) => card.id)];
  const rows = await query(sql).rows`select k.card_id, k.tag_id, t.tag_group_id, g.mode, t.name,
    g.name as group_name
     from card_tags k join tags t on t.id = k.tag_id join tag_groups g on g.id = t.tag_group_id
     where k.card_id = any(${order}::uuid[]) order by array_position(${order}::uuid[], k.card_id), k.tag_id`;
  const tags = new Set<string>();
  const groups = new Set<string>();
  const result: MergedTags = { added: [], dropped: [] };
  for (const tag of rows as CardTag[]) {
    const { tag_id: id, name, group_name } = tag;
    if (tags.has(id)) continue;
    if (tag.card_id !== survivor.id) {
      if (tag.mode === 'single' && groups.has(tag.tag_group_id)) {
        result.dropped.push({ id, name, group_name });
        continue;
      }
      result.added.push(id);
      emit(tagEvent(survivor, { id, name, group: group_name }, true));
    }
    tags.add(id);
    groups.add(tag.tag_group_id);
  }
  await query(sql).run`insert into card_tags (card_id, tag_id)
    select ${survivor.id}::uuid, unnest(${result.added}::uuid[])`;
  await deleteTags(
    work,
    merged.map((card) => card.id),
  );
  return result;
}

/** The record of a merge from which it can be undone. */
export interface MergeJournal {
  /** The merged cards as their rows were, with their tags. */
  cards: (StoredRow & { tag_ids: string[] })[];
  /** Relations that were deleted, as their rows were. */
  relations: StoredRow[];
  /** Relations that were changed. */
  changed: { id: string; before: StoredRow; after: StoredRow }[];
  /** The changes of the survivor and of dependent cards. */
  saved: { id: string; changes: Changes }[];
  moved: MovedRow[];
  removed: RemovedRow[];
  /** Tags that were added to the survivor. */
  tags: string[];
  /** Fields that were costs at the time of the merge: their values stay hidden, whatever type these fields have later. */
  cost_fields?: CostFields;
}

/** Keys of cost fields of the merged cards, and by relation type. */
export interface CostFields {
  card: string[];
  relations: Record<string, string[]>;
}

/** Reads the rows that a merge is going to delete or change. */
export async function readImages(
  { sql }: Work,
  { cards, relations }: { cards: string[]; relations: RelationWrite[] },
): Promise<Pick<MergeJournal, 'cards' | 'relations' | 'changed'>> {
  const deleted = relations.flatMap(({ before, after }) => (before && !after ? before.id : []));
  const rows = await query(sql)
    .rows`select (select json_agg(to_jsonb(c) - 'name_key' || jsonb_build_object('tag_ids',
               array(select k.tag_id from card_tags k where k.card_id = c.id order by k.tag_id))
               order by array_position(${cards}::uuid[], c.id)) from cards c
               where c.id = any(${cards}::uuid[])) as cards,
            (select coalesce(json_agg(to_jsonb(r) order by r.id), '[]')
             from relations r where r.id = any(${deleted}::uuid[])) as relations`;
  return {
    ...rows[0],
    changed: relations.flatMap(({ before, after }) =>
      before && after ? [{ id: before.id, before: { ...before }, after: { ...after } }] : [],
    ),
  };
}

/** Stores a merge with the redirects of the merged cards. */
export async function storeMerge(
  { sql }: Work,
  ctx: Ctx,
  { id, cards, journal }: { id: string; cards: MergedCards; journal: MergeJournal },
): Promise<void> {
  const { survivor, merged } = cards;
  const named = merged.map((card) => ({ id: card.id, name: card.name, external_id: card.external_id }));
  await sql('card_merges').insert({
    id,
    survivor_id: survivor.id,
    card_type: survivor.type,
    merged: JSON.stringify(named),
    journal: JSON.stringify(journal),
    created_by: ctx.caller.userId,
  });
  await sql('card_redirects').insert(
    merged.map((card) => ({ card_id: card.id, survivor_id: survivor.id, merge_id: id })),
  );
}

/** A written value or row of a merge that has changed since. */
export interface MergeConflict {
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

export const changed = (entity: string, id: string, field: string | null): MergeConflict => ({
  entity,
  id,
  field,
  code: 'changed',
  message: field === null ? 'hangs on another card now' : `${field} was changed after the merge`,
});

export const missing = (entity: string, id: string, what = 'was deleted after the merge'): MergeConflict => ({
  entity,
  id,
  field: null,
  code: 'missing',
  message: what,
});

/** The error for an undo that could not restore everything. */
export function mergeConflict(conflicts: MergeConflict[]): EstateError {
  return new EstateError(
    'merge_conflict',
    `${conflicts.length} ${conflicts.length === 1 ? 'thing has' : 'things have'} changed since the merge.`,
    { extra: { conflict_count: conflicts.length, conflicts: conflicts.slice(0, MAX_NAMED) } },
  );
}

/** The state of an undo of a merge. */
export interface Undoing {
  work: Work;
  ctx: Ctx;
  journal: MergeJournal;
  survivorId: string;
  /** Whether a card with the status may be below a parent, including the parents that the undo restores. */
  mayLieBelow(parent: string | null, status: string): boolean;
  /** Records a conflict. */
  conflict(conflict: MergeConflict): void;
}

const refusal = (what: string): UndoRefusal => ({ code: 'missing', message: `The ${what} does not exist.` });

/** Moves a row back to the card that it referenced before. */
export async function undoMove(work: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const reference = work.extensions.cardReferences.find(({ entity }) => entity === event.data.entity);
  const { old, new: present } = event.data.changes.card_id as { old: string; new: string };
  const card = await work.sql('cards').where({ id: old }).first('type');
  if (!reference || !card) return refusal('card');
  const { table, column } = reference;
  const moved = await query(work.sql).row<{ owner: string | null }>`update ${embed(table)}
    set ${embed(column)} = ${old}::uuid where id = ${event.id}::uuid and ${embed(column)} = ${present}::uuid
    returning ${embed(ownerOf(reference))} as owner`;
  if (!moved) return refusal(reference.entity);
  const type = work.metamodel.cardTypes.get(card.type)!;
  work.emit(movedEvent(reference, type, { id: event.id, from: present, to: old, owner: moved.owner }));
  return null;
}

/** Deletes the redirects of a merge whose other writes are undone individually, or restores them. */
export async function undoMerge(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const id = String(event.data.merge_id);
  const merge = await sql('card_merges').where({ id }).forUpdate().first('survivor_id', 'merged');
  if (!merge) return refusal('merge');
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
