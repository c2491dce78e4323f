import { embed, query, type Sql } from '../../../../platform/database.ts';
import type { CardReference, Ctx, Work } from '../../../kernel/context.ts';
import type { EventDraft, StoredRow } from '../../../kernel/events/row-changes.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import { insertRow, lockRow } from '../../../kernel/resources/rows.ts';
import type { UndoneEvent, UndoRefusal } from '../../../kernel/undo/undo.types.ts';
import { deleteTags, tagEvent } from '../../tags/tags.cards.ts';
import type { StoredCard } from '../cards.load.ts';
import { CardMerge } from '../cards.model.ts';

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
function movedEvent(
  { entity, column }: CardReference,
  type: CardType,
  row: { id: string; from: string; to: string; owner: string | null },
): EventDraft {
  const { id, from, to, owner } = row;
  return {
    event_type: 'attachment.moved',
    ...(owner === null ? {} : { scope: 'user' as const, recipient_id: owner }),
    card_id: to,
    card_type: type.key,
    data: { id, entity, column, changes: { card_id: { old: from, new: to } } },
  };
}

/** The owner of a row of the table, as SQL. */
const ownerOf = ({ table, owner }: CardReference): string => (owner ? `${table}.${owner}` : 'null::uuid');

/**
 * Moves all rows that reference the merged cards to the survivor, two statements for each table, with an event for each
 * row.
 * @returns the number of moved rows by entity.
 */
export async function moveAttached(work: Work, cards: MergedCards): Promise<Record<string, number>> {
  const { sql, emit } = work;
  const { type, survivor, merged } = cards;
  const counts: Record<string, number> = {};
  const ids = [survivor.id, ...merged.map(({ id }) => id)];
  for (const reference of work.extensions.cardReferences) {
    const { table, column, entity } = reference;
    const before = (await reference.beforeMerge?.(work, ids)) ?? 0;
    if (reference.once) await removeDoubles(work, reference, cards);
    const moved = await query(sql).rows<{ id: string; from: string; owner: string | null }>`with moved as (
         update ${embed(table)} set ${embed(column)} = ${survivor.id}::uuid
         where ${embed(column)} = any(${merged.map(({ id }) => id)}::uuid[])
         returning new.id, old.${embed(column)} as "from", ${embed(ownerOf(reference))} as owner
       ) select * from moved order by id`;
    for (const row of moved) emit(movedEvent(reference, type, { ...row, to: survivor.id }));
    counts[entity] = (counts[entity] ?? 0) + before + moved.length;
  }
  return counts;
}

/** Deletes rows for which the survivor or an earlier merged card has an equivalent, or has one that takes precedence. */
async function removeDoubles(
  { sql, emit }: Work,
  { table, column, once }: CardReference,
  { type, survivor, merged }: MergedCards,
): Promise<void> {
  const { by, only = 'true', event } = once!;
  const order = [survivor.id, ...merged.map((card) => card.id)];
  const rows = await query(sql).rows<{ row: StoredRow; user: string }>`with ranked as (
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
  for (const { row, user } of rows) emit(event(byId.get(row[column] as string)!, type, row, user));
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
  const ids = merged.map((card) => card.id);
  await deleteTags(work, ids);
  return result;
}

/** Stores a merge with the redirects of the merged cards. */
export async function storeMerge(
  { sql }: Work,
  ctx: Ctx,
  id: string,
  { survivor, merged }: MergedCards,
): Promise<void> {
  await insertRow(sql, CardMerge, {
    id,
    survivor_id: survivor.id,
    card_type: survivor.type,
    merged: merged.map(({ id, number, name, external_id }) => ({ id, number: number!, name, external_id })),
    created_by: ctx.caller.userId,
  });
  await insertRedirects(sql, id, survivor.id, merged);
}

async function insertRedirects(
  sql: Sql,
  merge_id: string,
  survivor_id: string,
  merged: readonly { id: string; number?: string | null }[],
): Promise<void> {
  await sql('card_redirects').insert(
    merged.map(({ id, number = null }) => ({ card_id: id, survivor_id, merge_id, number })),
  );
}

const refusal = (what: string): UndoRefusal => ({ code: 'missing', message: `The ${what} does not exist.` });

/** Moves a row back to the card that it referenced before. */
export async function undoMove(work: Work, _ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql, extensions } = work;
  const { entity, column: named } = event.data;
  const reference = extensions.cardReferences.find((one) => one.entity === entity && one.column === named);
  const { old, new: present } = event.data.changes.card_id as { old: string; new: string };
  const card = await sql('cards').where({ id: old }).first('type');
  if (!reference || !card) return refusal('card');
  const { table, column, fixed } = reference;
  const row = await query(sql).row<{ is_restored: boolean; is_fixed: boolean }>`select
      t.${embed(column)} is not distinct from ${old}::uuid as is_restored,
      ${embed(fixed?.only ?? 'false')} and exists (select from events e where e.data ->> 'id' = ${event.id}
        and e.event_type = ${fixed?.by ?? ''} and e.position > ${event.position}) as is_fixed
    from ${embed(table)} t where t.id = ${event.id}::uuid`;
  if (!row) return refusal(reference.entity);
  // It has followed another row.
  if (row.is_restored) return null;
  if (row.is_fixed) return { code: 'changed_later', message: `${fixed!.by} has changed it after the merge.` };
  const moved = await query(sql).row<{ owner: string | null }>`update ${embed(table)}
    set ${embed(column)} = ${old}::uuid where id = ${event.id}::uuid and ${embed(column)} = ${present}::uuid
    returning ${embed(ownerOf(reference))} as owner`;
  if (!moved) return { code: 'changed_later', message: 'It belongs to another card now.' };
  const type = work.metamodel.cardTypes.get(card.type)!;
  work.emit(movedEvent(reference, type, { id: event.id, from: present, to: old, owner: moved.owner }));
  return null;
}

/** A row that refers to rows of several cards. */
export interface SplitRow {
  entity: string;
  id: string;
}

/**
 * Moves rows to the card of the rows to which they refer, after an undo has moved rows between the given cards.
 * @returns the rows that refer to rows of several cards, which stay.
 */
export async function followMoved(work: Work, cardIds: readonly string[]): Promise<SplitRow[]> {
  const { sql, metamodel } = work;
  const split: SplitRow[] = [];
  for (let isDone = false; !isDone; ) {
    isDone = true;
    split.length = 0;
    for (const reference of work.extensions.cardReferences) {
      const { entity, table, column, follows = [] } = reference;
      if (follows.length === 0) continue;
      const referred = follows.map(
        (to) =>
          `select r.${column} as card from ${to.table} r where r.id = t.${to.column} and ${to.only ?? 'true'}`,
      );
      const rows = await query(sql).rows<{ id: string; from: string; owner: string | null; cards: string[] }>`
           select
          t.id, t.${embed(column)} as "from", ${embed(reference.owner ? `t.${reference.owner}` : 'null::uuid')} as owner,
          c.cards
        from ${embed(table)} t cross join lateral (select array_agg(distinct u.card)::text[] as cards
          from (${embed(referred.join(' union all '))}) u) c
        where t.${embed(column)} = any(${cardIds}::uuid[]) and c.cards <> array[t.${embed(column)}::text]
          and c.cards <@ ${cardIds}::text[] order by t.id`;
      for (const { id, from, owner, cards } of rows) {
        if (cards.length > 1) {
          split.push({ entity, id });
          continue;
        }
        const to = cards[0]!;
        await sql(table)
          .where({ id })
          .update({ [column]: to });
        const card = await sql('cards').where({ id: to }).first('type');
        work.emit(movedEvent(reference, metamodel.cardTypes.get(card.type)!, { id, from, to, owner }));
        isDone = false;
      }
    }
  }
  return split;
}

/**
 * Undoes the event of a merge or of its undo: deletes the redirects of the merged cards, or restores them. The other
 * writes of the merge have their own events.
 */
export async function undoMergeEvent(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const id = String(event.data.merge_id);
  const merge = await lockRow(sql, CardMerge, { id });
  if (!merge) return refusal('merge');
  const ends = event.event_type === 'card.merged';
  await sql('card_redirects').where({ merge_id: id }).delete();
  await sql('card_merges')
    .where({ id })
    .update(
      ends ? { undone_by: ctx.caller.userId, undone_at: sql.fn.now() } : { undone_by: null, undone_at: null },
    );
  if (!ends) await insertRedirects(sql, id, merge.survivor_id, merge.merged);
  work.emit({
    event_type: ends ? 'card.unmerged' : 'card.merged',
    card_id: event.card_id,
    card_type: String(event.data.type),
    data: { ...event.data, changes: {} },
  });
  return null;
}
