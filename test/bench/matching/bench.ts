import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { clustersOf } from '../../../integrations/analysis/matching/clusters.ts';
import {
  type DuplicatesResult,
  findDuplicates,
  matchLists,
} from '../../../integrations/analysis/matching/match.ts';
import type { MatchResult } from '../../../integrations/analysis/matching/matching.types.ts';
import { baselinePairs } from './baseline.ts';
import { listClasses } from './classes.ts';
import { type Judged, pairKey, readJudged } from './judged.ts';
import { otherLists } from './others.ts';
import { KINDS, planted, plantedIn } from './planted.ts';
import { sampleOf, train } from './train.ts';

/** Above this many records the baseline is left out, which takes the square of the time. */
const MOST_FOR_BASELINE = 5_000;

interface Run {
  result: MatchResult;
  ms: number;
}

/**
 * Prints how well and how fast records are matched: `--data <folder of judged sets>`, `--records <number>`, and/or `--others`, made-up
 * lists of many kinds, sizes and shares of duplicates, and/or `--lists`, ordinary lists by class. `--train` with `--data` trains the
 * prior from all of them and writes it.
 */
export function benchMatching(args: string[]): void {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      records: { type: 'string' },
      others: { type: 'boolean', default: false },
      lists: { type: 'boolean', default: false },
      train: { type: 'boolean', default: false },
      errors: { type: 'string', default: '0' },
    },
  });
  if (values.train) writePrior(values.data ? readJudged(values.data) : []);
  else if (!values.data && !values.records && !values.others && !values.lists)
    throw new RangeError('Give --data <folder>, --records <number>, --others or --lists.');
  for (const judged of values.data && !values.train ? readJudged(values.data) : [])
    report(judged, Number(values.errors));
  if (values.others) table(otherLists());
  if (values.lists) classes();
  if (values.records) scale(Number(values.records), Number(values.errors));
}

function report(judged: Judged, errors: number): Run {
  const { name, left, right, truth } = judged;
  console.log(
    `\n${name}: ${left.length}${right ? ` x ${right.length}` : ''} records, ${truth.size} true pairs`,
  );
  const { result, ms } = run(judged);
  const keys = (least: number) =>
    new Set(result.pairs.filter(({ score }) => score >= least).map((pair) => pairKey(pair.left, pair.right)));
  const matches = result.pairs.filter((pair) => pair.class === 'match');
  const found = new Set(matches.map((pair) => pairKey(pair.left, pair.right)));
  if (left.length <= MOST_FOR_BASELINE) line('TF-IDF cosine', judge(baselinePairs(judged), truth));
  line('match', judge(found, truth));
  line('score from 0.9', judge(keys(0.9), truth));
  line('match or possible', judge(keys(0), truth));
  if (!right) line('clusters', judge(inClusters(result), truth));
  const all = right ? left.length * right.length : (left.length * (left.length - 1)) / 2;
  console.log(
    `  ${right ? '' : `blocking recall ${recallOf(judged, result as DuplicatesResult).toFixed(3)}, `}${result.compared} pairs compared (${((100 * result.compared) / all).toFixed(2)} %), transitivity ${result.model.transitivity.toFixed(2)}, ${ms.toFixed(0)} ms`,
  );
  for (const pair of matches.filter((match) => !truth.has(pairKey(match.left, match.right))).slice(0, errors))
    console.log(
      pair,
      [pair.left, pair.right].map((id) => [...left, ...(right ?? [])].find((one) => one.id === id)?.values),
    );
  return { result, ms };
}

const PRIOR_FILE = new URL('../../../integrations/analysis/matching/prior.json', import.meta.url);

function writePrior(known: readonly Judged[]): void {
  const lists = [
    ...known,
    ...otherLists(),
    ...KINDS.map((kind) => plantedIn(kind, 3_000)),
    ...listClasses().flatMap(({ lists }) => lists),
  ];
  writeFileSync(PRIOR_FILE, `${JSON.stringify(train(lists.map(sampleOf)), null, 2)}\n`);
}

/** Ordinary lists, each class in one line. */
function classes(): void {
  console.log('\nprecision, recall, F1; pairs found, true pairs; certain and false ones among them');
  for (const { name, lists } of listClasses()) {
    const runs = lists.map((judged) => ({ judged, result: run(judged).result }));
    const sum = (count: (one: (typeof runs)[0]) => number) => runs.reduce((all, one) => all + count(one), 0);
    const foundIn = ({ judged, result }: (typeof runs)[0]) =>
      judged.right
        ? new Set(
            result.pairs
              .filter((pair) => pair.class === 'match')
              .map((pair) => pairKey(pair.left, pair.right)),
          )
        : inClusters(result);
    const right = sum((one) => [...foundIn(one)].filter((key) => one.judged.truth.has(key)).length);
    const [found, truth] = [sum((one) => foundIn(one).size), sum(({ judged }) => judged.truth.size)];
    const certain = runs.flatMap(({ judged, result }) =>
      result.pairs
        .filter(({ score }) => score >= CERTAIN)
        .map((pair) => judged.truth.has(pairKey(pair.left, pair.right))),
    );
    const numbers = [right / (found || 1), right / (truth || 1), (2 * right) / (found + truth || 1)];
    console.log(
      `  ${numbers.map((value) => value.toFixed(3)).join('  ')}  ${found} of ${truth}; ${certain.length}, ${certain.filter((isTrue) => !isTrue).length} false  ${name}`,
    );
  }
}

const CERTAIN = 0.95;

/** Many lists, each in one line. */
function table(lists: readonly Judged[]): void {
  console.log('\nclusters: precision, recall, F1; pairs found, true pairs; transitivity');
  for (const judged of lists) {
    const { result } = run(judged);
    const { precision, recall, f1, found } = judge(inClusters(result), judged.truth);
    const numbers = [precision, recall, f1].map((value) => value.toFixed(3)).join('  ');
    console.log(
      `  ${numbers}  ${`${found}`.padStart(5)} ${`${judged.truth.size}`.padStart(5)}  ${result.model.transitivity.toFixed(2)}${result.model.exclusive ? ' rivals' : ''}  ${judged.name}`,
    );
  }
}

function run({ left, right, fields }: Judged): Run {
  const start = performance.now();
  const result = right ? matchLists(left, right, { fields }) : findDuplicates(left, { fields });
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
  new Set(
    clustersOf(pairs).flatMap(({ ids }) =>
      ids.flatMap((id, at) => ids.slice(at + 1).map((other) => pairKey(id, other))),
    ),
  );

function judge(found: Set<string>, truth: Set<string>) {
  const right = [...found].filter((pair) => truth.has(pair)).length;
  return {
    precision: right / (found.size || 1),
    recall: right / (truth.size || 1),
    f1: (2 * right) / (found.size + truth.size || 1),
    found: found.size,
  };
}

function line(what: string, { precision, recall, f1, found }: ReturnType<typeof judge>): void {
  const numbers = [precision, recall, f1].map((value) => value.toFixed(3)).join('  ');
  console.log(`  ${what.padEnd(18)} precision, recall, F1: ${numbers}  (${found} pairs)`);
}

/** As many made-up applications as given in two lists, and with half as many of each other kind in lists of their own. */
function scale(records: number, errors: number): void {
  const judged = planted(records);
  const { result, ms } = run(judged);
  const found = result.pairs.filter((pair) => pair.class === 'match');
  console.log(`\n${judged.name}: ${judged.left.length} x ${judged.right!.length} records`);
  line('match', judge(new Set(found.map((pair) => pairKey(pair.left, pair.right))), judged.truth));
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
