import type { Knex } from 'knex';
import { query } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import type { Work } from '../../../kernel/context.ts';
import { findRows } from '../../../kernel/resources/rows.ts';
import { loadCompeting } from '../../relations/relations.load.ts';
import { Relation, type StoredRelation } from '../../relations/relations.model.ts';
import { diffRelation } from '../../relations/relations.rules.ts';
import type { NamedEnd } from '../../relations/relations.save.ts';
import { type RelationWrite, saveRelations } from '../../relations/relations.save.ts';
import { createWorkingSet } from '../../relations/relations.working-set.ts';
import { cardEvent, cardsTopic } from '../cards.events.ts';
import { loadCards, type StoredCard, typeOf } from '../cards.load.ts';
import { type CardWrite, saveCards } from '../cards.save.ts';
import { guardUnique } from '../cards.unique.ts';
import { type CardState, type Changes, diffCard, type Lifecycle, sameValue } from '../rules/diff.ts';
import { mergeAttributes } from '../rules/merge.ts';
import { changed, type MergeConflict, type MergeJournal, missing, type Undoing } from './merge.attached.ts';

/** Fields that are recomputed, and checked at the end. */
const derived = new Set(['data_quality']);

/** Reverts the changes of the merge to the remaining cards, where the values are still those that the merge wrote. */
export async function revertCards(undoing: Undoing): Promise<void> {
  const { work, ctx, journal, conflict, mayLieBelow } = undoing;
  const cards = await loadCards(
    work,
    ctx,
    journal.saved.map((card) => card.id),
  );
  const writes = journal.saved.flatMap(({ id, changes }): CardWrite[] => {
    const before = cards.get(id);
    if (!before) {
      conflict(missing('card', id));
      return [];
    }
    const type = typeOf(work.metamodel, before);
    const present = diffCard(null, before);
    const reverted: Changes = {};
    for (const [field, change] of Object.entries(changes)) {
      const isDerived =
        derived.has(field) || type.fields.get(field.replace(/^attributes\./, ''))?.readonly === true;
      if (sameValue(present[field]?.new ?? null, change.new)) reverted[field] = change;
      else if (!isDerived) conflict(changed('card', id, field));
    }
    const parent = (reverted.parent_id?.old ?? null) as string | null;
    if (!mayLieBelow(parent, (reverted.status?.old as string | undefined) ?? before.status)) {
      conflict(parentGone(id, parent));
      delete reverted.parent_id;
    }
    // Lines are moved back later, and sums are recomputed at the end.
    return [{ before, after: { ...withOld(before, reverted), sums: {} } }];
  });
  await saveCards(work, ctx, writes);
}

const parentGone = (id: string, parent: string | null): MergeConflict =>
  missing('card', id, `its parent ${parent} is no longer there or no longer active`);

/**
 * Parents may have been deleted, archived or merged since the merge.
 * @returns a check of whether a card of a status may be below a parent, including the cards that the undo restores.
 */
export async function checkParents(
  { sql }: Pick<Work, 'sql'>,
  { cards, saved }: MergeJournal,
): Promise<Undoing['mayLieBelow']> {
  const parents = [
    ...cards.map((card) => card.parent_id),
    ...saved.map(({ changes }) => changes.parent_id?.old ?? null),
  ].filter((id) => id !== null);
  const standing: { id: string; status: string }[] = await sql('cards')
    .whereIn('id', parents as string[])
    .select('id', 'status');
  const statuses = new Map(standing.map(({ id, status }) => [id, status]));
  for (const card of cards) statuses.set(String(card.id), String(card.status));
  return (parent, status) => {
    if (parent === null) return true;
    const above = statuses.get(parent);
    return above === 'ACTIVE' || (above !== undefined && status === 'ARCHIVED');
  };
}

/** The card with the old values of changes. */
function withOld(card: StoredCard, changes: Changes): StoredCard {
  const after: Record<string, unknown> = { ...card };
  const attributes: Record<string, unknown> = {};
  const lifecycle: Record<string, unknown> = { ...card.lifecycle };
  for (const [field, { old }] of Object.entries(changes)) {
    if (field.startsWith('attributes.')) attributes[field.slice('attributes.'.length)] = old;
    else if (!field.startsWith('lifecycle.')) after[field] = old;
    else if (old === null) delete lifecycle[field.slice('lifecycle.'.length)];
    else lifecycle[field.slice('lifecycle.'.length)] = old;
  }
  after.attributes = mergeAttributes(card.attributes, attributes);
  after.lifecycle = Object.keys(lifecycle).length > 0 ? (lifecycle as Lifecycle) : null;
  return after as unknown as StoredCard;
}

const columns = `id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status, approval_status,
  data_quality, external_id, archived_at, archive_batch_id, created_by, updated_by, created_at, updated_at`;

/**
 * Creates the merged cards again from their stored rows.
 * @throws EstateError `sibling_name_taken`, `external_id_taken`.
 */
export async function restoreMergedCards(undoing: Undoing): Promise<void> {
  const { work, journal, conflict, mayLieBelow } = undoing;
  const { sql, metamodel } = work;
  const rows = journal.cards.map(({ tag_ids: _, ...row }) => {
    const parent = row.parent_id as string | null;
    if (mayLieBelow(parent, String(row.status))) return row;
    conflict(parentGone(String(row.id), parent));
    return { ...row, parent_id: null };
  });
  const insert = async (trx: Knex.Transaction) =>
    await trx.raw(
      `insert into cards (${columns}) select ${columns} from jsonb_populate_recordset(null::cards, ?::jsonb)
       returning id, utc(archived_at) as archived_at`,
      [JSON.stringify(rows)],
    );
  const cards = rows as unknown as CardState[];
  const answer = await guardUnique(sql, cards, insert);
  const archivedAt = new Map<string, string | null>(
    answer.rows.map((row: { id: string; archived_at: string | null }) => [row.id, row.archived_at]),
  );
  for (const row of cards) {
    const type = metamodel.cardTypes.get(row.type)!;
    const card = { ...row, archived_at: archivedAt.get(row.id) ?? null };
    work.emit(cardEvent('card.created', type, card, diffCard(null, card)));
    work.raise(cardsTopic(type.key));
  }
}

/** Restores the relations of the merged cards, and creates again those that the merge deleted. */
export async function restoreRelations(undoing: Undoing): Promise<void> {
  const { work, ctx, journal } = undoing;
  const writes = [...(await revertRelations(undoing)), ...(await missingRelations(undoing))];
  const ids = new Set(writes.flatMap(({ before, after }) => endsOf(before, after)));
  const ends: NamedEnd[] = await work
    .sql('cards')
    .whereIn('id', [...ids])
    .select('id', 'name', 'type');
  await saveRelations(work, ctx, writes, new Map(ends.map((end) => [end.id, end])));
  // Their creator and creation time are restored as well.
  await query(work.sql).run`update relations r set created_by = v.created_by, created_at = v.created_at,
    updated_at = v.updated_at
     from jsonb_populate_recordset(null::relations, ${JSON.stringify(journal.relations)}::jsonb) v
     where r.id = v.id`;
}

const endsOf = (...relations: (StoredRelation | null)[]): string[] =>
  relations.flatMap((relation) => (relation ? [relation.source_id, relation.target_id] : []));

/** The changed relations with their old values, where they are still as the merge wrote them. */
async function revertRelations({ work, journal, conflict }: Undoing): Promise<RelationWrite[]> {
  const rows = await findRows(work.sql, Relation, (query) =>
    query
      .whereIn(
        'id',
        journal.changed.map(({ id }) => id),
      )
      .orderBy('id')
      .forUpdate(),
  );
  const present = new Map(rows.map((row) => [row.id, row]));
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

/** The deleted relations whose ends exist and whose cardinality allows them. */
async function missingRelations({ work, journal, conflict }: Undoing): Promise<RelationWrite[]> {
  const relations = journal.relations as unknown as StoredRelation[];
  const cards = await query(work.sql).rows`select id from cards
    where id = any(${relations.flatMap((relation) => endsOf(relation))}::uuid[])`;
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
