import { idFor } from '../../domain/analysis/duplicates/duplicates.records.ts';
import { statusOf } from '../../domain/analysis/duplicates/duplicates.status.ts';
import type { ClusterStatus, PairDecision } from '../../domain/analysis/duplicates/duplicates.types.ts';
import { clustersOf, type Tie } from '../matching/clusters.ts';
import type { PairFacts } from './decisions.ts';

/** A group of cards of one type that stand for one thing. */
export interface FoundCluster {
  id: string;
  card_ids: string[];
  cohesion: number;
  least_score: number;
  most_score: number;
  status: ClusterStatus;
}

/**
 * Groups of the pairs, with what people decided: what was confirmed is certain, and what was dismissed is in no group
 * together.
 */
export function clustersWith(pairs: readonly Tie[], holding: readonly PairFacts[]): FoundCluster[] {
  const decided = new Map<string, PairDecision>(holding.map(({ id, decision }) => [id, decision]));
  const apart = new Map<string, Set<string>>();
  for (const { left_id, right_id, decision } of holding)
    if (decision === 'dismissed')
      for (const [one, other] of [
        [left_id, right_id],
        [right_id, left_id],
      ] as const)
        apart.set(one, (apart.get(one) ?? new Set()).add(other));
  const ties = new Map<string, Tie>();
  for (const { left, right, score } of pairs) {
    const id = idFor('pair', [left, right]);
    if (decided.get(id) !== 'dismissed') ties.set(id, { left, right, score });
  }
  for (const { id, left_id: left, right_id: right, decision } of holding)
    if (decision === 'confirmed') ties.set(id, { left, right, score: 1 });
  const groups = clustersOf([...ties.values()], undefined, apart);
  const home = new Map(groups.flatMap(({ ids }, at) => ids.map((id) => [id, at] as const)));
  const bounds = groups.map(() => ({ least: 1, most: 0 }));
  for (const { left, right, score } of ties.values()) {
    const at = home.get(left);
    if (at === undefined || at !== home.get(right)) continue;
    const bound = bounds[at]!;
    bound.least = Math.min(bound.least, score);
    bound.most = Math.max(bound.most, score);
  }
  return groups.map(({ ids, cohesion }, at) => ({
    id: idFor('cluster', ids),
    card_ids: ids,
    cohesion,
    least_score: bounds[at]!.least,
    most_score: bounds[at]!.most,
    status: statusOf(ids, decided),
  }));
}
