import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { cardinalityExceeded, diffRelation, limitedSides } from '../../relations/relations.rules.ts';
import type { RelationWrite } from '../../relations/relations.save.ts';
import type { StoredRelation } from '../../relations/relations.types.ts';
import { mergeAttributes } from '../rules/merge.ts';

/** A relation that another one replaces after a merge. */
interface FoldedRelation {
  id: string;
  type: string;
  /** The relation that remains, with the values that it lacked. */
  kept_id: string;
}

/** The effect of a merge on relations. */
interface MergedRelations {
  writes: RelationWrite[];
  folded: FoldedRelation[];
  /** Relations between the merged cards themselves. */
  dropped: { id: string; type: string }[];
  moved: number;
}

/**
 * Moves the merged cards' relations to the survivor. Of two relations between the same cards one remains, preferably
 * the survivor's own, with the values that it lacks from the other; relations between the merged cards are deleted.
 * @throws EstateError `cardinality_exceeded` when the survivor would have more than its type allows.
 */
export function planRelations(
  metamodel: Metamodel,
  relations: StoredRelation[],
  survivorId: string,
  gone: ReadonlySet<string>,
): MergedRelations {
  const plan: MergedRelations = { writes: [], folded: [], dropped: [], moved: 0 };
  const endOf = (id: string) => (gone.has(id) ? survivorId : id);
  const touched = (relation: StoredRelation) => gone.has(relation.source_id) || gone.has(relation.target_id);
  const kept = new Map<string, { before: StoredRelation; after: StoredRelation }>();
  // The survivor's own relations come first, so that they are the ones that remain.
  for (const before of relations.toSorted((a, b) => Number(touched(a)) - Number(touched(b)))) {
    const after = {
      ...before,
      source_id: endOf(before.source_id),
      target_id: endOf(before.target_id),
    };
    if (after.source_id === after.target_id) {
      plan.dropped.push({ id: before.id, type: before.type });
      plan.writes.push({ before, after: null });
      continue;
    }
    const key = `${after.type} ${after.source_id} ${after.target_id}`;
    const there = kept.get(key);
    if (there) {
      plan.folded.push({ id: before.id, type: before.type, kept_id: there.before.id });
      plan.writes.push({ before, after: null });
      there.after = {
        ...there.after,
        attributes: mergeAttributes(before.attributes, there.after.attributes),
        description: there.after.description ?? before.description,
      };
    } else {
      kept.set(key, { before, after });
      if (touched(before)) plan.moved += 1;
    }
  }
  for (const write of kept.values()) {
    if (Object.keys(diffRelation(write.before, write.after)).length > 0) plan.writes.push(write);
  }
  requireCardinality(
    metamodel,
    [...kept.values()].map(({ after }) => after),
    survivorId,
  );
  return plan;
}

/** Only the survivor can exceed its cardinality: other cards have no more relations than before. */
function requireCardinality(metamodel: Metamodel, relations: StoredRelation[], survivorId: string): void {
  const first = new Map<string, string>();
  for (const relation of relations) {
    const type = metamodel.relationTypes.get(relation.type)!;
    for (const side of limitedSides(type)) {
      if (relation[`${side}_id`] !== survivorId) continue;
      const key = `${type.key} ${side}`;
      const there = first.get(key);
      if (there) throw cardinalityExceeded(type, side, there);
      first.set(key, relation.id);
    }
  }
}
