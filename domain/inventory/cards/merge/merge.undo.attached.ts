import { embed, query, sqlState } from '../../../../platform/database.ts';
import type { CardReference } from '../../../kernel/context.ts';
import { insertRows } from '../../../kernel/resources/rows.ts';
import { tagEvent } from '../../tags/tags.cards.ts';
import type { Undoing } from './merge.attached.ts';
import { changed, missing, movedEvent, ownerOf } from './merge.attached.ts';

/** Moves attachments back to the merged cards and restores those that were deleted. */
export async function restoreAttached(undoing: Undoing): Promise<void> {
  for (const reference of undoing.work.extensions.cardReferences) await moveBack(undoing, reference);
  for (const reference of undoing.work.extensions.cardReferences) await insertBack(undoing, reference);
}

interface MoveOutcome {
  id: string;
  moved: boolean;
  present: boolean;
  owner: string | null;
}

async function moveBack(undoing: Undoing, reference: CardReference): Promise<void> {
  const { work, journal, survivorId, conflict } = undoing;
  const { table, column, entity } = reference;
  const wanted = journal.moved.filter((row) => row.table === table && (row.column ?? column) === column);
  if (wanted.length === 0) return;
  const rows = await query(work.sql).rows`with wanted as (
       select * from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as v(id uuid, "from" uuid)
     ), moved as (
       update ${embed(table)} set ${embed(column)} = wanted."from" from wanted
       where ${embed(table)}.id = wanted.id and ${embed(table)}.${embed(column)} = ${survivorId}::uuid
       returning ${embed(table)}.id, ${embed(ownerOf(reference))} as owner
     )
     select wanted.id, moved.id is not null as moved, moved.owner, exists (select from ${embed(table)} t
     where t.id = wanted.id) as present
     from wanted left join moved on moved.id = wanted.id`;
  const type = work.metamodel.cardTypes.get(String(journal.cards[0]!.type))!;
  const outcomes = new Map<string, MoveOutcome>(rows.map((row: MoveOutcome) => [row.id, row]));
  for (const { id, from } of wanted) {
    const outcome = outcomes.get(id)!;
    const { owner } = outcome;
    if (outcome.moved) work.emit(movedEvent(reference, type, { id, from: survivorId, to: from, owner }));
    else conflict(outcome.present ? changed(entity, id, null) : missing(entity, id));
  }
}

async function insertBack(
  { work, journal, survivorId, conflict }: Undoing,
  reference: CardReference,
): Promise<void> {
  const { table, column, entity, once } = reference;
  const removed = journal.removed.filter((row) => row.table === table);
  if (removed.length === 0) return;
  const survivor = await work.sql('cards').where({ id: survivorId }).first('id', 'name', 'type');
  for (const { user, row } of removed) {
    const card = journal.cards.find(({ id }) => id === row[column]) ?? survivor;
    const type = work.metamodel.cardTypes.get(String(card.type))!;
    try {
      // In a savepoint, so that the other rows can still be restored.
      const [stored] = await work.sql.transaction((trx) => insertRows(trx, reference.model, [row]));
      work.emit(once!.event({ id: String(card.id), name: String(card.name) }, type, stored!, user, false));
    } catch (error) {
      // A row that it references was deleted, such as a user.
      if (sqlState(error) !== '23503') throw error;
      conflict(missing(entity, String(row.id), 'what it refers to was deleted after the merge'));
    }
  }
}

interface NamedTag {
  id: string;
  name: string;
  group: string;
}

/** Restores the tags of the merged cards, and removes from the survivor those that the merge added. */
export async function restoreTags({ work, journal, survivorId, conflict }: Undoing): Promise<void> {
  const { sql, emit } = work;
  const wanted = journal.cards.flatMap((card) =>
    card.tag_ids.map((tag_id) => ({ card_id: String(card.id), tag_id })),
  );
  const known = await query(sql).rows`select t.id, t.name, g.name as "group" from tags t
    join tag_groups g on g.id = t.tag_group_id
     where t.id = any(${[...journal.tags, ...wanted.map(({ tag_id }) => tag_id)]}::uuid[])`;
  const tags = new Map<string, NamedTag>(known.map((tag: NamedTag) => [tag.id, tag]));
  const present = wanted.filter(({ card_id, tag_id }) => {
    if (tags.has(tag_id)) return true;
    conflict(missing('tag', tag_id, `the tag of the card ${card_id} was deleted after the merge`));
    return false;
  });
  await query(sql).run`insert into card_tags (card_id, tag_id)
     select v.card_id, v.tag_id
     from jsonb_to_recordset(${JSON.stringify(present)}::jsonb) as v(card_id uuid, tag_id uuid)`;
  const byId = new Map(journal.cards.map((card) => [String(card.id), card]));
  for (const { card_id, tag_id } of present) {
    const { type, name } = byId.get(card_id)!;
    emit(tagEvent({ id: card_id, type: String(type), name: String(name) }, tags.get(tag_id)!, true));
  }
  // The tag was removed from the survivor meanwhile.
  const taken = await query(sql).rows`delete from card_tags
    where card_id = ${survivorId}::uuid and tag_id = any(${journal.tags}::uuid[]) returning tag_id`;
  const survivor = await sql('cards').where({ id: survivorId }).first('id', 'name', 'type');
  for (const { tag_id } of taken as { tag_id: string }[]) {
    emit(tagEvent(survivor, tags.get(tag_id)!, false));
  }
}
