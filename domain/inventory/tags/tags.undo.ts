import type { Ctx, Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { insertRow } from '../../kernel/events/stored-rows.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import type { UndoneEvent, UndoRefusal, UndoSpec } from '../../kernel/undo/undo.types.ts';
import { cardsTopic } from '../cards/cards.events.ts';
import { loadCards, lockCards } from '../cards/cards.load.ts';
import { rescoreCards } from '../cards/cards.save.ts';
import { openRun } from '../metamodel/changes/changes.run.ts';
import { restateInventory } from '../metamodel/changes/restate.ts';
import { tagEvent } from './tags.events.ts';
import { catalogueEvent, type TagTable } from './tags.told.ts';

/** Puts a tag back on a card, or takes it off again, with the card's score. */
async function undoLink(work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> {
  const { sql } = work;
  const added = event.event_type === 'tag.added';
  const { old, new: put } = event.data.changes.tag_id!;
  const tagId = String(added ? put : old);
  await lockCards(work, [event.id]);
  const card = (await loadCards(work, ctx, [event.id])).get(event.id);
  if (!card) return { code: 'missing_card', message: `The card ${event.id} is gone.` };
  const { rows } = await sql.raw(
    `select t.id, t.name, g.name as "group" from tags t join tag_groups g on g.id = t.tag_group_id where t.id = ?`,
    [tagId],
  );
  if (!rows[0]) return added ? null : { code: 'missing_tag', message: `The tag ${tagId} is gone.` };
  const link = { card_id: card.id, tag_id: tagId };
  const changed = added
    ? await sql('card_tags').where(link).delete()
    : (await sql('card_tags').insert(link).onConflict().ignore().returning('tag_id')).length;
  if (changed === 0) return null;
  work.emit(tagEvent(card, rows[0], !added));
  work.raise(cardsTopic(card.type));
  await rescoreCards(work, ctx, [card.id]);
  return null;
}

/** Brings a group or a tag back to what it was; the scores that it decides follow. */
function undoRow(table: TagTable) {
  return async (work: Work, ctx: Ctx, event: UndoneEvent): Promise<UndoRefusal | null> => {
    const { sql } = work;
    const changes = Object.entries(event.data.changes);
    const side = (which: 'old' | 'new') =>
      Object.fromEntries(changes.map(([column, change]) => [column, change[which]]));
    const { rows } = await sql.raw(`select to_jsonb(t) as row from ${table} t where id = ? for update`, [
      event.id,
    ]);
    const present: StoredRow | null = rows[0]?.row ?? null;
    let after: StoredRow | null = null;
    if (event.event_type.endsWith('.created')) {
      if (!present) return null;
      await sql(table).where({ id: event.id }).delete();
    } else if (event.event_type.endsWith('.deleted')) {
      if (present) return null;
      const group = event.data.changes.tag_group_id?.old;
      if (
        table === 'tags' &&
        !(await sql('tag_groups')
          .where({ id: group as string })
          .first('id'))
      ) {
        return { code: 'missing_group', message: `The tag group ${group} is gone.` };
      }
      after = await insertRow(sql, table, { id: event.id, ...side('old') });
    } else {
      if (!present)
        return { code: 'missing', message: `The ${table === 'tags' ? 'tag' : 'tag group'} is gone.` };
      const columns = changes.map(([column]) => `${column} = v.${column}`).join(', ');
      const { rows: written } = await sql.raw(
        `update ${table} t set ${columns} from jsonb_populate_record(null::${table}, ?::jsonb) v
         where t.id = ? returning to_jsonb(t) as row`,
        [JSON.stringify(side('old')), event.id],
      );
      after = written[0].row;
    }
    work.emit(catalogueEvent(table, present, after));
    work.raise(METAMODEL_TOPIC);
    const run = openRun(work, ctx, { language: 'en' });
    await restateInventory(run);
    await run.held?.record();
    return null;
  };
}

export const tagUndo: UndoSpec[] = [
  { entity: 'tag of a card', events: { created: ['tag.added'], deleted: ['tag.removed'] }, undo: undoLink },
  {
    entity: 'tag',
    table: 'tags',
    changesMetamodel: true,
    events: { created: ['tag.created'], updated: ['tag.updated'], deleted: ['tag.deleted'] },
    undo: undoRow('tags'),
  },
  {
    entity: 'tag group',
    table: 'tag_groups',
    changesMetamodel: true,
    events: {
      created: ['tag_group.created'],
      updated: ['tag_group.updated'],
      deleted: ['tag_group.deleted'],
    },
    undo: undoRow('tag_groups'),
  },
];
