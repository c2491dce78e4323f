import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { clustersOf } from '../../../integrations/analysis/matching/clusters.ts';
import type { DuplicatesResult } from '../../../integrations/analysis/matching/match.ts';
import { findDuplicates, matchLists } from '../../../integrations/analysis/matching/match.ts';
import type { MatchResult, Prior } from '../../../integrations/analysis/matching/matching.types.ts';
import { baselinePairs } from './baseline.ts';
import { type ListClass, listClasses } from './classes.ts';
import { furtherClasses } from './further.ts';
import { type Judged, pairKey, pairsWithin, readJudged } from './judged.ts';
import { otherLists } from './others.ts';
import { KINDS, planted, plantedIn } from './planted.ts';
import { size } from './size.ts';
import { type Sample, sampleOf, trainedFrom } from './train.ts';

/** Above this many records the baseline is left out, which takes the square of the time. */
const MOST_FOR_BASELINE = 5_000;

interface Run {
  result: MatchResult;
  ms: number;
}

/**
 * Prints how well and how fast records are matched: `--data <folder of judged sets>`, `--records <number>`, `--size <number>`, the time and
 * memory of a search among as many cards, and/or `--others`, made-up
 * lists of many kinds, sizes and shares of duplicates, and/or `--lists`, ordinary lists by class, and/or `--further`, lists of further kinds
 * and languages (`--only <pattern>`: classes with such names). `--train` with `--data` trains the
 * prior and writes it; `--held-out` compares, for each family of lists, the prior trained from all with one trained
 * without this family.
 */
async function benchMatching(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      records: { type: 'string' },
      size: { type: 'string' },
      others: { type: 'boolean', default: false },
      lists: { type: 'boolean', default: false },
      further: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      train: { type: 'boolean', default: false },
      'held-out': { type: 'boolean', default: false },
      errors: { type: 'string', default: '0' },
    },
  });
  const only = new RegExp(values.only);
  const trains = values.train || values['held-out'];
  const known = values.data ? readJudged(values.data) : [];
  if (trains) trainPrior(trainingLists(known), values.train, only);
  else if (!['data', 'records', 'size', 'others', 'lists', 'further'].some((name) => values[name as 'data']))
    throw new RangeError(
      'Give --data <folder>, --records <number>, --size <number>, --others, --lists or --further.',
    );
  for (const judged of trains ? [] : known) report(judged, Number(values.errors));
  if (values.others) table(otherLists());
  if (values.lists) classes(listClasses(), only);
  if (values.further)
    for (const isTrained of [true, false]) {
      console.log(
        `\n${isTrained ? 'Kinds of which the training has other lists' : 'Kinds that the training does not have'}`,
      );
      classes(
        furtherClasses(SEEDS.bench).filter((one) => one.isTrained === isTrained),
        only,
      );
    }
  if (values.records) scale(Number(values.records), Number(values.errors));
  if (values.size) await size(Number(values.size));
}

function report(judged: Judged, errors: number): Run {
  const { name, left, right, truth } = judged;
  console.log(
    `\n${name}: ${left.length}${right ? ` x ${right.length}` : ''} records, ${truth.size} true pairs`,
  );
  const { result, ms } = run(judged);
  const matches = result.pairs.filter((pair) => pair.class === 'match');
  if (left.length <= MOST_FOR_BASELINE) line('TF-IDF cosine', judge(baselinePairs(judged), truth));
  line('match', judge(keysOf(matches), truth));
  line('score from 0.9', judge(keysOf(result.pairs.filter(({ score }) => score >= 0.9)), truth));
  line('match or possible', judge(keysOf(result.pairs), truth));
  if (!right) line('clusters', judge(inClusters(result), truth));
  printCalibration([{ judged, result }]);
  const all = right ? left.length * right.length : (left.length * (left.length - 1)) / 2;
  console.log(
    `  ${right ? '' : `blocking recall ${recallOf(judged, result as DuplicatesResult).toFixed(3)}, `}${result.compared} pairs compared (${((100 * result.compared) / all).toFixed(2)} %), transitivity ${result.model.transitivity.toFixed(2)}, ${ms.toFixed(0)} ms`,
  );
  const records = new Map([...left, ...(right ?? [])].map(({ id, values }) => [id, values]));
  for (const pair of matches.filter((match) => !truth.has(pairKey(match.left, match.right))).slice(0, errors))
    console.log(pair, [records.get(pair.left), records.get(pair.right)]);
  return { result, ms };
}

const keysOf = (pairs: MatchResult['pairs']): Set<string> =>
  new Set(pairs.map(({ left, right }) => pairKey(left, right)));

const PRIOR_FILE = new URL('../../../integrations/analysis/matching/prior.json', import.meta.url);

/** Families of training lists by their names; the first that fits. */
const FAMILIES: Record<string, RegExp> = {
  offers: /offers|abt-buy|products/,
  organisations: /organisations/,
  persons: /persons/,
  publications: /publications/,
  music: /music/,
  servers: /servers/,
  companies: /compan/,
  'other scripts': /scripts/,
  applications: /./,
};

interface TrainingList {
  family: string;
  judged: Judged;
  sample: Sample;
}

/** The first seeds of the made-up lists, which differ so that no list of ordinary and further kinds is both trained by and judged. */
const SEEDS = { training: 3_001, bench: 7_001 };

const trainingLists = (known: readonly Judged[]): TrainingList[] =>
  [
    ...known,
    ...otherLists(),
    ...KINDS.map((kind) => plantedIn(kind, 3_000)),
    ...listClasses(SEEDS.training).flatMap(({ lists }) => lists()),
  ].map((judged) => ({
    family: Object.keys(FAMILIES).find((family) => FAMILIES[family]!.test(judged.name))!,
    judged,
    sample: sampleOf(judged),
  }));

/** The prior as JSON, each list of numbers in a line. */
const textOf = (prior: Prior): string =>
  `${JSON.stringify(prior, null, 2).replace(/\[[^\]]*\]/g, (list) => list.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'))}\n`;

/** Trains the prior, and writes it or prints by family how well a prior does that was trained without it. */
function trainPrior(lists: readonly TrainingList[], written: boolean, only: RegExp): void {
  const further = furtherClasses(SEEDS.training)
    .filter(({ isTrained }) => isTrained)
    .flatMap((one) => one.lists().map(sampleOf));
  const samplesOf = (some: readonly TrainingList[]) => some.map(({ sample }) => sample);
  const prior = trainedFrom(samplesOf(lists), further);
  if (written) writeFileSync(PRIOR_FILE, textOf(prior));
  if (written) return;
  console.log('F1 with and without the family in the training; its lists');
  for (const family of Object.keys(FAMILIES).filter((one) => only.test(one))) {
    const own = lists.filter((list) => list.family === family);
    const others = trainedFrom(samplesOf(lists.filter((list) => list.family !== family)), further);
    const [all, without] = [prior, others].map(
      (one) =>
        total(
          own.map(({ judged }) => judged),
          one,
        ).f1,
    );
    console.log(`  ${all!.toFixed(3)}  ${without!.toFixed(3)}  ${`${own.length}`.padStart(3)}  ${family}`);
  }
}

/** The figures of all lists together. */
function total(lists: readonly Judged[], prior: Prior): Figures {
  let [right, found, truth] = [0, 0, 0];
  for (const judged of lists) {
    const keys = foundIn(judged, run(judged, prior).result);
    right += [...keys].filter((key) => judged.truth.has(key)).length;
    found += keys.size;
    truth += judged.truth.size;
  }
  return figuresOf(right, found, truth);
}

/** The pairs of a list that are reported as matches, directly or through a cluster. */
const foundIn = ({ right }: Judged, result: MatchResult): Set<string> =>
  right ? keysOf(result.pairs.filter((pair) => pair.class === 'match')) : inClusters(result);

/** Ordinary lists, each class in one line. */
function classes(all: readonly ListClass[], only: RegExp): void {
  console.log('\nprecision, recall, F1; pairs found, true pairs; certain and false ones among them');
  for (const { name, lists } of all.filter((one) => only.test(one.name))) {
    let [right, found, truth, certain, wrong] = [0, 0, 0, 0, 0];
    const judgedResults: JudgedResult[] = [];
    for (const judged of lists()) {
      const { result } = run(judged);
      judgedResults.push({ judged, result });
      const { pairs } = result;
      const keys = foundIn(judged, result);
      const sure = [...keysOf(pairs.filter(({ score }) => score >= CERTAIN))];
      right += [...keys].filter((key) => judged.truth.has(key)).length;
      found += keys.size;
      truth += judged.truth.size;
      certain += sure.length;
      wrong += sure.filter((key) => !judged.truth.has(key)).length;
    }
    console.log(
      `  ${numbersOf(figuresOf(right, found, truth))}  ${found} of ${truth}; ${certain}, ${wrong} false  ${name}`,
    );
    printCalibration(judgedResults);
  }
}

const CERTAIN = 0.95;

interface JudgedResult {
  judged: Judged;
  result: MatchResult;
}

const BINS = 10;
/** The least number of pairs of a bin whose share of true ones is judged. */
const LEAST_PAIRS = 50;

/** Prints the bins of scores with enough pairs: their number, the mean score and the share of true pairs. */
function printCalibration(results: readonly JudgedResult[]): void {
  const bins = Array.from({ length: BINS }, () => ({ pairs: 0, score: 0, right: 0 }));
  for (const { judged, result } of results)
    for (const { left, right, score } of result.pairs) {
      const bin = bins[Math.min(BINS - 1, Math.floor(score * BINS))]!;
      bin.pairs += 1;
      bin.score += score;
      if (judged.truth.has(pairKey(left, right))) bin.right += 1;
    }
  const judgedBins = bins.filter(({ pairs }) => pairs >= LEAST_PAIRS);
  const texts = judgedBins.map(({ pairs, score, right }) => {
    const [mean, share] = [score / pairs, right / pairs];
    return `${mean.toFixed(2)}: ${share.toFixed(2)} of ${pairs}${Math.abs(mean - share) > 0.1 ? ' !' : ''}`;
  });
  if (texts.length > 0) console.log(`    score: share of true pairs  ${texts.join('; ')}`);
}

/** Many lists, each in one line. */
function table(lists: readonly Judged[]): void {
  console.log('\nclusters: precision, recall, F1; pairs found, true pairs; transitivity');
  for (const judged of lists) {
    const { result } = run(judged);
    const figures = judge(inClusters(result), judged.truth);
    console.log(
      `  ${numbersOf(figures)}  ${`${figures.found}`.padStart(5)} ${`${judged.truth.size}`.padStart(5)}  ${result.model.transitivity.toFixed(2)}${result.model.exclusive ? ' rivals' : ''}  ${judged.name}`,
    );
    printCalibration([{ judged, result }]);
  }
}

function run({ left, right, fields }: Judged, prior?: Prior): Run {
  const start = performance.now();
  const options = prior ? { fields, prior } : { fields };
  const result = right ? matchLists(left, right, options) : findDuplicates(left, options);
  return { result, ms: performance.now() - start };
}

/** The share of true pairs that were compared at all. */
function recallOf({ truth }: Judged, { snapshot: { ids, candidates } }: DuplicatesResult): number {
  let found = 0;
  for (const [at, left] of candidates.left.entries())
    if (truth.has(pairKey(ids[left]!, ids[candidates.right[at]!]!))) found++;
  return found / (truth.size || 1);
}

/** All pairs of records that are in one cluster. */
const inClusters = ({ pairs }: MatchResult): Set<string> =>
  pairsWithin(clustersOf(pairs).map(({ ids }) => ids));

interface Figures {
  precision: number;
  recall: number;
  f1: number;
  found: number;
}

const figuresOf = (right: number, found: number, truth: number): Figures => ({
  precision: right / (found || 1),
  recall: right / (truth || 1),
  f1: (2 * right) / (found + truth || 1),
  found,
});

const judge = (found: Set<string>, truth: Set<string>): Figures =>
  figuresOf([...found].filter((pair) => truth.has(pair)).length, found.size, truth.size);

const numbersOf = ({ precision, recall, f1 }: Figures): string =>
  [precision, recall, f1].map((value) => value.toFixed(3)).join('  ');

const line = (what: string, figures: Figures): void =>
  console.log(`  ${what.padEnd(18)} precision, recall, F1: ${numbersOf(figures)}  (${figures.found} pairs)`);

/** As many made-up applications as given in two lists, and with half as many of each other kind in lists of their own. */
function scale(records: number, errors: number): void {
  const judged = planted(records);
  const { result, ms } = run(judged);
  const found = result.pairs.filter((pair) => pair.class === 'match');
  console.log(`\n${judged.name}: ${judged.left.length} x ${judged.right!.length} records`);
  line('match', judge(keysOf(found), judged.truth));
  console.log(`  ${result.compared} pairs compared, ${(ms / 1_000).toFixed(1)} s`);
  lists(records, errors);
}

function lists(records: number, errors: number): void {
  const most = () => process.resourceUsage().maxRSS / 1_024;
  let [seconds, all] = [0, 0];
  for (const [at, kind] of KINDS.entries()) {
    const judged = plantedIn(kind, at === 0 ? records : Math.round(records / 2));
    const before = process.memoryUsage().rss / 1_048_576;
    const { result, ms } = report(judged, errors);
    seconds += ms / 1_000;
    all += judged.left.length;
    console.log(`  at most ${most().toFixed(0)} MB so far, ${before.toFixed(0)} MB before this list`);
    again(judged, result as DuplicatesResult);
  }
  console.log(`\n${all} records of ${KINDS.length} kinds, one after the other: ${seconds.toFixed(1)} s`);
}

/** Runs again after 100 records changed, by what the first run found and in full. */
function again({ left, fields }: Judged, { model, snapshot }: DuplicatesResult): void {
  const every = Math.ceil(left.length / 100);
  const changed = left.map((record, at) =>
    at % every === 0
      ? { ...record, values: { ...record.values, name: `${record.values.name} anew` } }
      : record,
  );
  const start = performance.now();
  const next = findDuplicates(changed, { fields, model, previous: snapshot });
  const ms = performance.now() - start;
  const full = findDuplicates(changed, { fields, model });
  const same = isDeepStrictEqual({ ...next, work: 0 }, { ...full, work: 0 });
  console.log(
    `  ${next.work.changed} changed: ${next.work.searched} searched for, ${next.work.compared} pairs compared, ${(ms / 1_000).toFixed(1)} s; ${same ? 'equals' : 'DIFFERS FROM'} a full run; drift ${next.drift.index.toFixed(3)}`,
  );
  if (!same) process.exitCode = 1;
}

await benchMatching();
