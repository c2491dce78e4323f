import type { RelationType } from '../../kernel/metamodel/metamodel.compile.ts';
import type { StoredRelation } from './relations.model.ts';
import { cardinalityExceeded, limitedSides } from './relations.rules.ts';
import type { RelationWrite } from './relations.save.ts';

type Ends = Pick<StoredRelation, 'type' | 'source_id' | 'target_id'>;

/**
 * The relations that a command reads, with the changes of its steps applied. Nothing is written; `writes` returns the
 * total change of all steps: one write for each relation.
 */
export interface RelationWorkingSet {
  find(ends: Ends): StoredRelation | undefined;
  /** Adds or replaces a relation. */
  put(relation: StoredRelation): void;
  remove(relation: StoredRelation): void;
  /**
   * Checks that the type's cardinality allows one more relation between the ends.
   * @throws EstateError `cardinality_exceeded`.
   */
  requireCardinality(type: RelationType, ends: Ends): void;
  writes(): RelationWrite[];
}

const keyOf = ({ type, source_id, target_id }: Ends) => `${type} ${source_id} ${target_id}`;

/** A working set of the stored relations that `loadCompeting` reads. */
export function createWorkingSet(stored: StoredRelation[]): RelationWorkingSet {
  const before = new Map(stored.map((relation) => [relation.id, relation]));
  const now = new Map<string, StoredRelation>();
  const bySide = new Map<string, Set<StoredRelation>>();

  const sides = ({ type, source_id, target_id }: Ends) => [
    `${type} source ${source_id}`,
    `${type} target ${target_id}`,
  ];
  const add = (relation: StoredRelation) => {
    now.set(keyOf(relation), relation);
    for (const side of sides(relation)) {
      const there = bySide.get(side);
      if (there) there.add(relation);
      else bySide.set(side, new Set([relation]));
    }
  };
  const drop = (relation: StoredRelation) => {
    now.delete(keyOf(relation));
    for (const side of sides(relation)) bySide.get(side)?.delete(relation);
  };
  for (const relation of stored) add(relation);

  return {
    find: (ends) => now.get(keyOf(ends)),
    put(relation) {
      const there = now.get(keyOf(relation));
      if (there) drop(there);
      add(relation);
    },
    remove: drop,
    requireCardinality(type, ends) {
      for (const side of limitedSides(type)) {
        const [there] = bySide.get(`${type.key} ${side} ${ends[`${side}_id`]}`) ?? [];
        if (there) throw cardinalityExceeded(type, side, there.id);
      }
    },
    writes() {
      const after = new Map([...now.values()].map((relation) => [relation.id, relation]));
      const ids = new Set([...before.keys(), ...after.keys()]);
      return [...ids].flatMap((id) => {
        const write = { before: before.get(id) ?? null, after: after.get(id) ?? null };
        return write.before === write.after ? [] : [write];
      });
    },
  };
}
