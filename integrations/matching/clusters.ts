import type { MatchPair } from './matching.types.ts';

/** Records of one list that stand for one thing. */
export interface Cluster {
  /** At least two ids, rising. */
  ids: string[];
  /** The mean of what binds each record to the others, 0..1. */
  cohesion: number;
}

/** Records of a group at most: what is larger is no group of duplicates, and nobody could look through it. */
const MOST_MEMBERS = 50;
/** Of a larger group, a record is held against as many as this that are the most like it. */
const MOST_TIES = 6;

/** A pair as far as groups go. */
export type Tie = Pick<MatchPair, 'left' | 'right' | 'score'>;

interface Group {
  members: string[];
}

/**
 * Groups of records, made from the pairs of findDuplicates, the likeliest first. Two groups become one only when the records of
 * each are as likely as `least` bound to those of the other on average, a pair that is not there counting 0: so one likely
 * pair does not chain two groups whose other records are strangers. A record is in one group at most,
 * and two that are known to be `apart`, told from both sides, are in none together.
 */
export function clustersOf(
  pairs: readonly Tie[],
  least = 0.5,
  apart: ReadonlyMap<string, ReadonlySet<string>> = new Map(),
): Cluster[] {
  const ties = new Map<string, Map<string, number>>();
  for (const { left, right, score } of pairs) {
    tiesOf(ties, left).set(right, score);
    tiesOf(ties, right).set(left, score);
  }
  const groups = new Map([...ties.keys()].map((id): [string, Group] => [id, { members: [id] }]));
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  const order = pairs.toSorted((a, b) => b.score - a.score || text(a.left, b.left) || text(a.right, b.right));
  for (const { left, right, score } of order) {
    if (score < least) break;
    const [one, other] = [groups.get(left)!, groups.get(right)!];
    if (one === other || one.members.length + other.members.length > MOST_MEMBERS) continue;
    if (one.members.some((id) => other.members.some((to) => apart.get(id)?.has(to)))) continue;
    if (Math.min(binding(one, other, ties), binding(other, one, ties)) < least) continue;
    const [large, small] = one.members.length < other.members.length ? [other, one] : [one, other];
    large.members.push(...small.members);
    for (const id of small.members) groups.set(id, large);
  }
  return [...new Set(groups.values())]
    .filter(({ members }) => members.length > 1)
    .map((group) => ({
      ids: group.members.toSorted(text),
      cohesion: Number(binding(group, group, ties).toFixed(6)),
    }))
    .sort((a, b) => text(a.ids[0]!, b.ids[0]!));
}

function tiesOf(ties: Map<string, Map<string, number>>, id: string): Map<string, number> {
  const known = ties.get(id);
  if (known) return known;
  const made = new Map<string, number>();
  ties.set(id, made);
  return made;
}

/** The mean over the records of a group of what binds them to those of the other that are the most like them. */
function binding(group: Group, other: Group, ties: Map<string, Map<string, number>>): number {
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
