import { EstateError } from '../../../../platform/errors.ts';
import type { NamedEnd } from '../../relations/relations.events.ts';
import { loadCompeting } from '../../relations/relations.load.ts';
import { diffRelation } from '../../relations/relations.rules.ts';
import { type RelationWrite, saveRelations } from '../../relations/relations.save.ts';
import type { StoredRelation } from '../../relations/relations.types.ts';
import { createWorkingSet } from '../../relations/relations.working-set.ts';
import { sameValue } from '../rules/diff.ts';
import { mergeAttributes } from '../rules/merge.ts';
import { changed, missing } from './merge.conflicts.ts';
import type { Undoing } from './merge.undo.types.ts';

/** Gives the merged cards their relations back, and makes those again that were folded or dropped. */
export async function bringBackRelations(undoing: Undoing): Promise<void> {
  const { work, ctx, journal } = undoing;
  const writes = [...(await revertRelations(undoing)), ...(await missingRelations(undoing))];
  const ids = new Set(writes.flatMap(({ before, after }) => endsOf(before, after)));
  const ends: NamedEnd[] = await work
    .sql('cards')
    .whereIn('id', [...ids])
    .select('id', 'name', 'type');
  await saveRelations(work, ctx, writes, new Map(ends.map((end) => [end.id, end])));
  // who made them, and when, is theirs as well
  await work.sql.raw(
    `update relations r set created_by = v.created_by, created_at = v.created_at, updated_at = v.updated_at
     from jsonb_populate_recordset(null::relations, ?::jsonb) v where r.id = v.id`,
    [JSON.stringify(journal.relations)],
  );
}

const endsOf = (...relations: (StoredRelation | null)[]): string[] =>
  relations.flatMap((relation) => (relation ? [relation.source_id, relation.target_id] : []));

/** The changed relations as they were, where they are still as the merge left them. */
async function revertRelations({ work, journal, conflict }: Undoing): Promise<RelationWrite[]> {
  const { rows } = await work.sql.raw(
    `select r.id, r.type, r.source_id, r.target_id, r.attributes, r.description from relations r
     where r.id = any(?::uuid[]) order by r.id for update`,
    [journal.changed.map(({ id }) => id)],
  );
  const present = new Map<string, StoredRelation>(rows.map((row: StoredRelation) => [row.id, row]));
  return journal.changed.flatMap((entry): RelationWrite[] => {
    const before = present.get(entry.id);
    if (!before) {
      conflict(missing('relation', entry.id));
      return [];
    }
    const [then, left] = [entry.before, entry.after] as unknown as [StoredRelation, StoredRelation];
    const now = diffRelation(null, before);
    const after = { ...before };
    for (const [field, { old, new: written }] of Object.entries(diffRelation(then, left))) {
      const isEnd = field === 'source_id' || field === 'target_id';
      const value = isEnd ? before[field] : (now[field]?.new ?? null);
      if (!sameValue(value, written)) conflict(changed('relation', entry.id, field));
      else if (isEnd) after[field] = old as string;
      else if (field === 'description') after.description = old as string | null;
      else after.attributes = mergeAttributes(after.attributes, { [field.slice('attributes.'.length)]: old });
    }
    return [{ before, after }];
  });
}

/** The deleted relations, as far as their ends are there and have room. */
async function missingRelations({ work, journal, conflict }: Undoing): Promise<RelationWrite[]> {
  const relations = journal.relations as unknown as StoredRelation[];
  const { rows: cards } = await work.sql.raw('select id from cards where id = any(?::uuid[])', [
    relations.flatMap((relation) => endsOf(relation)),
  ]);
  const there = new Set(cards.map(({ id }: { id: string }) => id));
  const wanted = relations.flatMap((relation) => {
    const type = work.metamodel.relationTypes.get(relation.type);
    if (type && endsOf(relation).every((id) => there.has(id))) return [{ relation, type }];
    conflict(missing('relation', relation.id, 'a card or the type of it was deleted after the merge'));
    return [];
  });
  const workingSet = createWorkingSet(
    await loadCompeting(
      work.sql,
      wanted.map(({ relation, type }) => ({ ...relation, type })),
    ),
  );
  return wanted.flatMap(({ relation, type }): RelationWrite[] => {
    try {
      workingSet.requireRoom(type, relation);
    } catch (error) {
      if (!(error instanceof EstateError)) throw error;
      conflict({
        entity: 'relation',
        id: relation.id,
        field: null,
        code: error.code,
        message: error.message,
      });
      return [];
    }
    const { id, source_id, target_id, attributes, description } = relation;
    const after = { id, type: type.key, source_id, target_id, attributes, description };
    workingSet.put(after);
    return [{ before: null, after }];
  });
}
