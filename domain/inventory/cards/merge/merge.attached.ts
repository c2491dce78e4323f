import type { CardReference, Work } from '../../../kernel/context.ts';
import type { EventDraft } from '../../../kernel/events/events.types.ts';
import type { StoredRow } from '../../../kernel/events/row-changes.ts';
import type { CardType } from '../../../kernel/metamodel/metamodel.compile.ts';
import { tagEvent } from '../../tags/tags.events.ts';
import { deleteTags } from '../../tags/tags.use.ts';
import type { StoredCard } from '../cards.load.ts';

/** A row that was given to the survivor. */
export interface MovedRow {
  table: string;
  /** Absent in journals from before: tables had one column each that refers to cards. */
  column?: string;
  id: string;
  /** The merged card on which it hung. */
  from: string;
}

/** A row that was left out, since the survivor has one of its kind. */
export interface RemovedRow {
  table: string;
  /** The display name of the user whom it names. */
  user: string;
  row: StoredRow;
}

export interface MergedAttachments {
  moved: MovedRow[];
  removed: RemovedRow[];
}

/** The cards of a merge. */
export interface MergedCards {
  type: CardType;
  survivor: StoredCard;
  merged: StoredCard[];
}

/** The event of a row that hangs on another card now; `owner` is whom alone it concerns, null where it is all. */
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

/** Gives all that hangs on the merged cards to the survivor, two statements a table, with an event for each row. */
export async function moveAttached(work: Work, cards: MergedCards): Promise<MergedAttachments> {
  const { sql, emit } = work;
  const { type, survivor, merged } = cards;
  const gone = merged.map((card) => card.id);
  const result: MergedAttachments = { moved: [], removed: [] };
  for (const reference of work.extensions.cardReferences) {
    const { table, column } = reference;
    if (reference.once) result.removed.push(...(await removeDoubles(work, reference, cards)));
    const { rows } = await sql.raw(
      `with moved as (
         update ${table} set ${column} = ?::uuid where ${column} = any(?::uuid[]) 
         returning new.id, old.${column} as "from", ${ownerOf(reference)} as owner
       ) select * from moved order by id`,
      [survivor.id, gone],
    );
    for (const { id, from, owner } of rows as { id: string; from: string; owner: string | null }[]) {
      result.moved.push({ table, column, id, from });
      emit(movedEvent(reference, type, { id, from, to: survivor.id, owner }));
    }
  }
  return result;
}

/** Removes rows of which the survivor, or a merged card before, has one of the kind, or one that has to stay. */
async function removeDoubles(
  { sql, emit }: Work,
  { table, column, once }: CardReference,
  { type, survivor, merged }: MergedCards,
): Promise<RemovedRow[]> {
  const { by, only = 'true', event } = once!;
  const order = [survivor.id, ...merged.map((card) => card.id)];
  const { rows } = await sql.raw(
    `with ranked as (
       select id, row_number() over (partition by ${by.join(', ')}
         order by ${only}, array_position(?::uuid[], ${column}), id) as place
       from ${table} t where ${column} = any(?::uuid[])
     ), gone as (
       delete from ${table} t using ranked r where r.id = t.id and r.place > 1 and ${only}
       returning to_jsonb(t) as row, (to_jsonb(t) ->> 'user_id')::uuid as user_id
     )
     select gone.row, coalesce(u.display_name, '') as user
     from gone left join users u on u.id = gone.user_id order by gone.row ->> 'id'`,
    [order, order],
  );
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

/** Tags that the survivor was given, and those that it could not be given. */
export interface MergedTags {
  added: string[];
  /** From groups of which a card has one tag at most. */
  dropped: { id: string; name: string; group_name: string }[];
}

/**
 * Gives the merged cards' tags to the survivor; of a group from which a card has one tag, the survivor's own stays.
 */
export async function mergeTags(work: Work, { survivor, merged }: MergedCards): Promise<MergedTags> {
  const { sql, emit } = work;
  const order = [survivor.id, ...merged.map((card) => card.id)];
  const { rows } = await sql.raw(
    `select k.card_id, k.tag_id, t.tag_group_id, g.mode, t.name, g.name as group_name
     from card_tags k join tags t on t.id = k.tag_id join tag_groups g on g.id = t.tag_group_id
     where k.card_id = any(?::uuid[]) order by array_position(?::uuid[], k.card_id), k.tag_id`,
    [order, order],
  );
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
  await sql.raw('insert into card_tags (card_id, tag_id) select ?::uuid, unnest(?::uuid[])', [
    survivor.id,
    result.added,
  ]);
  await deleteTags(
    work,
    merged.map((card) => card.id),
  );
  return result;
}
