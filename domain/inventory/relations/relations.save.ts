import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import type { EventDraft } from '../../kernel/events/row-changes.ts';
import type { Metamodel, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import { insertRows, updateRows } from '../../kernel/resources/rows.ts';
import { seedsOfRelations, type TouchedRelation } from '../calculations/calculations.follow.ts';
import { mandatoryTypes } from '../cards/cards.load.ts';
import { withSums } from '../cards/cards.rows.ts';
import { rescoreCards, rolledUp } from '../cards/cards.save.ts';
import { costKeysIn } from '../cards/rules/diff.ts';
import { deleteCostsOfRelations } from '../costs/costs.attached.ts';
import { Relation, type StoredRelation } from './relations.model.ts';
import { diffRelation } from './relations.rules.ts';

/** One relation's change: without `before` it is created, without `after` deleted. */
export interface RelationWrite {
  before: StoredRelation | null;
  after: StoredRelation | null;
}

/**
 * Writes relations in one statement for each kind of change, with an event for each, and recomputes the data quality of
 * their cards if the type is mandatory. The ends must be locked. Unchanged relations are skipped. Costs of deleted
 * relations are deleted.
 * @param options.leaving cards that the same command deletes.
 * @param options.kept relations that receive the costs of deleted ones, by the id of these.
 */
export async function saveRelations(
  work: Work,
  ctx: Ctx,
  given: RelationWrite[],
  ends: ReadonlyMap<string, NamedEnd>,
  options: { leaving?: ReadonlySet<string>; kept?: ReadonlyMap<string, string> } = {},
): Promise<void> {
  const { sql, metamodel } = work;
  const writes = given.map((write) => withRelationSums(metamodel, write));
  const deleted = writes.flatMap(({ before, after }) => (before && !after ? [before] : []));
  const created = writes.flatMap(({ before, after }) => (after && !before ? [after] : []));
  const updated = writes.flatMap(({ before, after }) =>
    before && after && Object.keys(diffRelation(before, after)).length > 0 ? [{ before, after }] : [],
  );
  const endsOf = ({ source_id, target_id }: StoredRelation) => ({
    source: ends.get(source_id)!,
    target: ends.get(target_id)!,
  });
  // events of deletions contain who created the relation and when, which undo restores
  const made = new Map<string, Record<string, unknown>>();
  if (deleted.length > 0) {
    await deleteCostsOfRelations(
      work,
      new Map(deleted.map((relation) => [relation.id, endsOf(relation)])),
      options.kept,
    );
    const rows = await query(sql).rows`delete from relations
      where id = any(${deleted.map((relation) => relation.id)}::uuid[])
      returning id, created_by, to_json(created_at) as created_at`;
    for (const { id, ...facts } of rows) made.set(id, facts);
  }
  const { userId } = ctx.caller;
  const rows = created.map((relation) => ({ ...relation, created_by: userId }));
  await insertRows(sql, Relation, rows);
  const changed = updated.map(({ after }) => after);
  await updateRows(sql, Relation, changed, ['source_id', 'target_id', 'attributes', 'description']);
  const all = [
    ...deleted.map((before) => ({ before, after: null })),
    ...created.map((after) => ({ before: null, after })),
    ...updated,
  ];
  for (const { before, after } of all) {
    const relation = (after ?? before)!;
    const type = metamodel.relationTypes.get(relation.type)!;
    const more = before && after ? rolledUp(type, after, diffRelation(before, after)) : made.get(relation.id);
    work.emit(relationEvent(type, endsOf(relation), before, after, { ...more }));
    work.raise(relationsTopic(type.key));
  }
  const touched = all.flatMap(({ before, after }) => touchedBy(before, after));
  await rescoreEnds(work, ctx, [...deleted, ...created], touched, options.leaving);
}

/** A write with the sums of the relation's costs. */
function withRelationSums({ relationTypes }: Metamodel, { before, after }: RelationWrite): RelationWrite {
  return { before, after: after && withSums(relationTypes.get(after.type)!, after) };
}

/** The relations that formulas must consider: a relation with changed ends counts as one deleted and one created. */
function touchedBy(before: StoredRelation | null, after: StoredRelation | null): TouchedRelation[] {
  const sides = [before, after].flatMap((relation) => (relation ? [relation] : []));
  const moved =
    before && after && (before.source_id !== after.source_id || before.target_id !== after.target_id);
  if (!before || !after || moved) return sides.map((relation) => ({ ...relation, attributes: null }));
  const keys = Object.keys(diffRelation(before, after)).flatMap((key) =>
    key.startsWith('attributes.') ? [key.slice('attributes.'.length)] : [],
  );
  return [{ ...after, attributes: new Set(keys) }];
}

/** Only mandatory relation types count for the data quality, on the mandatory side; formulas can read any relation. */
async function rescoreEnds(
  work: Work,
  ctx: Ctx,
  relations: StoredRelation[],
  touched: TouchedRelation[],
  leaving: ReadonlySet<string> = new Set(),
): Promise<void> {
  const sources = new Set(mandatoryTypes(work.metamodel, 'source'));
  const targets = new Set(mandatoryTypes(work.metamodel, 'target'));
  const ids = relations.flatMap((relation) => [
    ...(sources.has(relation.type) ? [relation.source_id] : []),
    ...(targets.has(relation.type) ? [relation.target_id] : []),
  ]);
  const seeds = seedsOfRelations(work.metamodel, touched);
  for (const [formula, ends] of seeds) {
    for (const id of leaving) ends.delete(id);
    if (ends.size === 0) seeds.delete(formula);
  }
  const staying = ids.filter((id) => !leaving.has(id));
  await rescoreCards(work, ctx, staying, seeds);
}

/** The card at an end of a relation, as in events. */
export interface NamedEnd {
  id: string;
  name: string;
  type: string;
}

/**
 * The event of one written relation, which names both cards and is in the history of both. Without `before` it was
 * created, without `after` deleted.
 */
export function relationEvent(
  type: RelationType,
  ends: { source: NamedEnd; target: NamedEnd },
  before: StoredRelation | null,
  after: StoredRelation | null,
  more: Record<string, unknown> = {},
): EventDraft {
  const { id } = (after ?? before)!;
  const { source, target } = ends;
  const changes = diffRelation(before, after);
  return {
    event_type:
      before === null ? 'relation.created' : after === null ? 'relation.deleted' : 'relation.updated',
    card_id: source.id,
    card_type: source.type,
    peer_card_id: target.id,
    peer_card_type: target.type,
    relation_id: id,
    relation_type: type.key,
    cost_keys: costKeysIn(changes, type.costKeys),
    data: {
      id,
      type: type.key,
      relation_label: type.label,
      relation_reverse_label: type.reverse_label,
      source_id: source.id,
      source_name: source.name,
      source_type: source.type,
      target_id: target.id,
      target_name: target.name,
      target_type: target.type,
      ...more,
      changes,
    },
  };
}

/** The topic that every change to relations of a type raises. */
export const relationsTopic = (type: string): string => `relations:${type}`;
