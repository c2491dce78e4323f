import { createHash } from 'node:crypto';
import type { Scratch, ScratchFile } from '../../../platform/scratch-file.ts';
import { withDecisions } from './decisions.ts';
import { binShares, driftOf } from './drift.ts';
import { type Compared, oddsOf, probabilitiesOf } from './learn.ts';
import {
  classify,
  type DuplicatesOptions,
  type DuplicatesResult,
  evidenceOf,
  fieldOf,
  learnModel,
  round,
  THRESHOLDS,
} from './match.ts';
import type { MatchModel, MatchPair } from './matching.types.ts';
import { modelId } from './models.ts';
import { Numbers } from './numbers.ts';
import { type Known, PartedComparison, type PartedList, type PartPairs } from './parts.compare.ts';
import { digestOf } from './records.ts';
import { LEAST_ODDS } from './rivals.ts';
import { type Progress, within } from './stages.ts';

/** Limits of what is in memory at once. */
export interface PartLimits {
  /** Pairs from which a model is learned: of more, those of some records. */
  learned: number;
  /** Odds below which a pair does not compete with others, if there are more pairs than that, except among records with others. */
  leastOdds: number;
}
const LIMITS: PartLimits = { learned: 2_000_000, leastOdds: 1e-4 };

/**
 * Like findDuplicatesInSteps, for a list of any length: what is in memory at once is two parts of it, and a few numbers for each record and
 * pair. Each two parts are compared with each other, twice, so that the time grows with the square of the number of parts. The snapshot is
 * only of the whole list, so that a next run is not incremental.
 */
export function* findDuplicatesInParts(
  list: PartedList,
  options: DuplicatesOptions,
  file: ScratchFile,
  limits: PartLimits = LIMITS,
): Generator<Progress, DuplicatesResult> {
  const { model: given, fields, prior } = options;
  const parts = new PartedComparison(list, options, file);

  const known: Known = given ?? (yield* within(0, 0.1, parts.count()));
  const ranked = yield* within(0.1, 0.4, parts.search(known));
  const candidates = parts.candidates(ranked);
  const { pairs, newWords } = yield* within(0.4, 0.8, parts.compare(known, candidates));
  const compared = pairs.reduce((sum, { count }) => sum + count, 0);
  const stored: Stored = { parts, pairs, list, file, count: compared };
  const facts = {
    ...known,
    ...{ vocabulary: parts.vocabulary, newWords, records: [parts.records] as [number] },
    fields: fields.map(fieldOf),
  };
  const base =
    given ?? (yield* within(0.8, 0.9, learnModel(facts, sampleOf(stored, limits), compared, prior)));
  const model = withDecisions(base, parts.decided);
  const found = classify(yield* resultsOf(stored, model, options, limits), options, false);
  return {
    ...{ pairs: found, model, base, compared },
    order: parts.aspects.map(({ name }) => name),
    snapshot: {
      ...{ model: modelId(base), ids: [], digests: [listDigest(list, fields)], neighbours: [] },
      ...{ candidates: { left: new Uint32Array(), right: new Uint32Array() }, similarities: [] },
    },
    work: { changed: parts.records, searched: parts.records, compared },
    drift: driftOf(model, sharesOf(stored), newWords),
  };
}

/** The hash of a whole list. */
export function listDigest(list: PartedList, fields: DuplicatesOptions['fields']): string {
  const hash = createHash('sha256');
  for (const part of list.counts.keys())
    for (const record of list.read(part)) hash.update(`${record.id} ${digestOf(record, fields)}\n`);
  return hash.digest('base64').slice(0, 22);
}

/** The compared pairs of a list. */
interface Stored {
  parts: PartedComparison;
  pairs: readonly PartPairs[];
  list: PartedList;
  file: ScratchFile;
  /** The number of pairs. */
  count: number;
}

/** The pairs from which a model is learned: all, or those of a part of the records. */
function sampleOf({ parts, pairs, file, count }: Stored, { learned }: PartLimits): Compared {
  // the share of records of whose pairs, together, there are as many as can be learned from
  const share = count <= learned ? 1 : 1 - Math.sqrt(1 - learned / count);
  const isIn = (row: number) => Math.imul(row + 1, 2_654_435_761) >>> 0 < share * 2 ** 32;
  const [lefts, rights] = [new Numbers(), new Numbers()];
  const chosen = pairs.map(({ candidates }) => {
    const { left, right } = file.get(candidates);
    const places = new Numbers();
    for (let at = 0; at < left.length; at++) {
      if (share !== 1 && !isIn(left[at]!) && !isIn(right[at]!)) continue;
      lefts.push(left[at]!);
      rights.push(right[at]!);
      places.push(at);
    }
    return places.items().slice();
  });
  const valuesOf = (index: number) => {
    const values = new Float32Array(lefts.length);
    let end = 0;
    for (const [part, places] of chosen.entries()) {
      const all = file.get(pairs[part]!.similarities[index]!);
      for (const at of places) values[end++] = all[at]!;
    }
    return values;
  };
  return {
    graph: { nodes: parts.records, left: lefts.items().slice(), right: rights.items().slice() },
    aspects: parts.aspects.map((aspect, index) => ({ ...aspect, similarities: valuesOf(index) })),
  };
}

/** The pairs that a model takes as possible matches. */
function* resultsOf(
  found: Stored,
  model: MatchModel,
  { thresholds = THRESHOLDS }: DuplicatesOptions,
  limits: PartLimits,
): Generator<Progress, MatchPair[]> {
  const { parts, pairs, file, count } = found;
  const least = Math.min(thresholds.possible, thresholds.match);
  const leastOdds = count > limits.learned ? limits.leastOdds : 0;
  const [lefts, rights, places] = [new Numbers(), new Numbers(), new Numbers()];
  const kept: Float64Array[] = [];
  const ends = [0];
  const stored: Scratch<Float64Array>[] = [];
  // pairs between these, however improbable, speak against others
  const isSpokenOf = new Uint8Array(parts.records);
  for (const [part, own] of pairs.entries()) {
    yield 0.9 + (0.03 * part) / pairs.length;
    const compared = parts.comparedOf(own);
    const all = oddsOf(compared, model);
    for (const [at, odd] of all.entries())
      if (odd >= LEAST_ODDS.spoken)
        isSpokenOf[compared.graph.left[at]!] = isSpokenOf[compared.graph.right[at]!] = 1;
    stored.push(file.put(all));
  }
  for (const [part, { candidates }] of pairs.entries()) {
    yield 0.93 + (0.02 * part) / pairs.length;
    const { left, right } = file.get(candidates);
    const all = file.get(stored[part]!);
    const isKept = (odd: number, at: number) =>
      odd > leastOdds || (isSpokenOf[left[at]!] === 1 && isSpokenOf[right[at]!] === 1);
    for (const [at, odd] of all.entries()) {
      if (!isKept(odd, at)) continue;
      lefts.push(left[at]!);
      rights.push(right[at]!);
      places.push(at);
    }
    kept.push(all.filter(isKept));
    ends.push(places.length);
  }
  const graph = { nodes: parts.records, left: lefts.items(), right: rights.items() };
  const odds = new Float64Array(places.length);
  for (const [part, own] of kept.entries()) odds.set(own, ends[part]!);
  const scores = probabilitiesOf(graph, odds, model.exclusive);
  const likely: (MatchPair & { rows: [number, number] })[] = [];
  for (const [part, own] of pairs.entries()) {
    yield 0.95 + (0.05 * part) / pairs.length;
    const { aspects } = parts.comparedOf(own);
    for (let at = ends[part]!; at < ends[part + 1]!; at++) {
      if (scores[at]! < least) continue;
      likely.push({
        ...{ left: '', right: '', class: 'possible', score: round(scores[at]!, 6) },
        alone: round(odds[at]! / (1 + odds[at]!), 6),
        evidence: evidenceOf(aspects, model, places.items()[at]!),
        rows: [graph.left[at]!, graph.right[at]!],
      });
    }
  }
  return named(found, likely);
}

/** Replaces the rows of pairs by ids. */
function named({ parts, list }: Stored, pairs: (MatchPair & { rows: [number, number] })[]): MatchPair[] {
  const names = new Map<number, string>();
  for (const { rows } of pairs) for (const row of rows) names.set(row, '');
  for (const [part, start] of parts.starts.entries())
    for (const [at, { id }] of list.read(part).entries())
      if (names.has(start + at)) names.set(start + at, id);
  return pairs.map(({ rows: [left, right], ...pair }) => ({
    ...pair,
    ...{ left: names.get(left)!, right: names.get(right)! },
  }));
}

/** By aspect, the shares of the pairs by bin, see binShares. */
function sharesOf({ parts, pairs, file, count }: Stored) {
  return parts.aspects.map(({ name }, index) => {
    const counts: number[] = [];
    for (const { similarities } of pairs) {
      const values = file.get(similarities[index]!);
      for (const [bin, share] of binShares(values).entries())
        counts[bin] = (counts[bin] ?? 0) + Math.round(share * values.length);
    }
    return { name, shares: counts.map((one) => one / Math.max(1, count)) };
  });
}
