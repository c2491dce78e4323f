import type { MatchPair } from './matching.types.ts';
import { finish, mapped, type Paused } from './numbers.ts';

/** Records of one list that represent the same object. */
export interface Cluster {
  /** At least two ids, ascending. */
  ids: string[];
  /** The mean link strength of each record to the others, 0..1. */
  cohesion: number;
}

/** Maximum number of records in a cluster: larger ones are not duplicates and cannot be reviewed. */
const MOST_MEMBERS = 50;
/** In a larger cluster, a record is compared with this number of the most similar ones. */
const MOST_TIES = 6;

const PAIRS_PER_PAUSE = 1_000;

/** A pair for clustering. */
export type ClusterEdge = Pick<MatchPair, 'left' | 'right' | 'score'>;

interface Group {
  members: string[];
}

/**
 * Clusters the pairs of findDuplicates (average linkage), most probable first. Two clusters are merged if the mean score between
 * their records is at least `least`, where a missing pair counts 0, so that one probable pair does not chain two clusters.
 * A record is in at most one cluster, and two records that are `apart` (given in both directions) are never in the same.
 */
export const clustersOf = (
  pairs: readonly ClusterEdge[],
  least?: number,
  apart?: ReadonlyMap<string, ReadonlySet<string>>,
): Cluster[] => finish(clustersInSteps(pairs, least, apart));

/** Like clustersOf; yields after some pairs, so that the caller can do other work. */
export function* clustersInSteps(
  pairs: readonly ClusterEdge[],
  least = 0.5,
  apart: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
): Paused<Cluster[]> {
  const ties = new Map<string, Map<string, number>>();
  for (const [at, { left, right, score }] of pairs.entries()) {
    if (at % PAIRS_PER_PAUSE === 0) yield;
    linksOf(ties, left).set(right, score);
    linksOf(ties, right).set(left, score);
  }
  const groups = new Map([...ties.keys()].map((id): [string, Group] => [id, { members: [id] }]));
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  const order = pairs.toSorted((a, b) => b.score - a.score || text(a.left, b.left) || text(a.right, b.right));
  for (const [at, { left, right, score }] of order.entries()) {
    if (at % PAIRS_PER_PAUSE === 0) yield;
    if (score < least) break;
    const [one, other] = [groups.get(left)!, groups.get(right)!];
    if (one === other || one.members.length + other.members.length > MOST_MEMBERS) continue;
    if (one.members.some((id) => other.members.some((to) => apart.get(id)?.has(to)))) continue;
    if (Math.min(linkage(one, other, ties), linkage(other, one, ties)) < least) continue;
    const [large, small] = one.members.length < other.members.length ? [other, one] : [one, other];
    large.members.push(...small.members);
    for (const id of small.members) groups.set(id, large);
  }
  const found = [...new Set(groups.values())].filter(({ members }) => members.length > 1);
  const clusters = yield* mapped(found, (group) => ({
    ids: group.members.toSorted(text),
    cohesion: Number(linkage(group, group, ties).toFixed(6)),
  }));
  return clusters.sort((a, b) => text(a.ids[0]!, b.ids[0]!));
}

function linksOf(ties: Map<string, Map<string, number>>, id: string): Map<string, number> {
  const known = ties.get(id);
  if (known) return known;
  const made = new Map<string, number>();
  ties.set(id, made);
  return made;
}

/** The mean score of a cluster's records to the most similar ones of the other cluster. */
function linkage(group: Group, other: Group, ties: Map<string, Map<string, number>>): number {
  const inOther = new Set(other.members);
  const counted = Math.min(MOST_TIES, group === other ? inOther.size - 1 : inOther.size);
  const sum = group.members.reduce((total, id) => {
    const scores = [...ties.get(id)!].filter(([to]) => inOther.has(to)).map(([, score]) => score);
    return (
      total +
      scores
        .sort((a, b) => b - a)
        .slice(0, counted)
        .reduce((a, b) => a + b, 0)
    );
  }, 0);
  return sum / (counted * group.members.length);
}
