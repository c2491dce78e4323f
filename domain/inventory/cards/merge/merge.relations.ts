import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { cardinalityExceeded, diffRelation, limitedSides } from '../../relations/relations.rules.ts';
import type { RelationWrite } from '../../relations/relations.save.ts';
import type { StoredRelation } from '../../relations/relations.types.ts';
import { mergeAttributes } from '../rules/merge.ts';

/** A relation that another one represents after a merge. */
interface FoldedRelation {
  id: string;
  type: string;
  /** The relation that stays, and takes over what it lacked. */
  kept_id: string;
}

/** What a merge does to relations. */
interface MergedRelations {
  writes: RelationWrite[];
  folded: FoldedRelation[];
  /** Relations between the merged cards themselves. */
  dropped: { id: string; type: string }[];
  moved: number;
}

/**
 * Gives the merged cards' relations to the survivor. Of two between the same cards one stays, the survivor's own
 * before others, with what it lacks from the other; relations among the merged cards themselves are dropped.
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
  // the survivor's own relations come first, so that they are the ones that stay
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

/** Others had their limits before, and have no more relations now than they had: only the survivor may have too many. */
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
