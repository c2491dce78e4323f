import { idFor } from './duplicates.records.ts';
import type { ClusterStatus, PairDecision } from './duplicates.types.ts';

/** The pairs of some cards, each with the lower id first. */
export const pairsOf = (ids: readonly string[]): { id: string; left_id: string; right_id: string }[] => {
  const sorted = ids.toSorted();
  return sorted.flatMap((left_id, at) =>
    sorted.slice(at + 1).map((right_id) => ({ id: idFor('pair', [left_id, right_id]), left_id, right_id })),
  );
};

/** The status of a cluster: the decision that all of its pairs have in common. */
export function statusOf(ids: readonly string[], decided: ReadonlyMap<string, PairDecision>): ClusterStatus {
  const decisions = new Set(pairsOf(ids).map(({ id }) => decided.get(id)));
  if (decisions.size === 0 || decisions.has(undefined)) return 'pending';
  if (decisions.size === 1) return [...decisions][0]!;
  return decisions.has('investigating') ? 'investigating' : 'pending';
}
