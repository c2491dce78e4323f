import { parseArgs } from 'node:util';
import { clustersOf } from '../../../integrations/matching/clusters.ts';
import { findDuplicates, matchLists } from '../../../integrations/matching/match.ts';
import type { MatchResult } from '../../../integrations/matching/matching.types.ts';
import { baselinePairs } from './baseline.ts';
import { type Judged, pairKey, readJudged } from './judged.ts';
import { planted } from './planted.ts';

/** Prints how well and how fast records are matched: `--data <folder of judged sets>` and/or `--records <number>`. */
function main(): void {
  const { values } = parseArgs({
    options: { data: { type: 'string' }, records: { type: 'string' }, errors: { type: 'string' } },
  });
  if (!values.data && !values.records)
    throw new RangeError('Give --data <folder>, --records <number> or both.');
  for (const judged of values.data ? readJudged(values.data) : []) report(judged, Number(values.errors ?? 0));
  if (values.records) scale(Number(values.records));
}

function report(judged: Judged, errors: number): void {
  const { name, left, right, truth } = judged;
  console.log(
    `\n${name}: ${left.length}${right ? ` x ${right.length}` : ''} records, ${truth.size} true pairs`,
  );
  const { result, ms } = run(judged);
  const baseline = judge(baselinePairs(judged), truth);
  const keys = (least: number) =>
    new Set(result.pairs.filter(({ score }) => score >= least).map((pair) => pairKey(pair.left, pair.right)));
  const matches = result.pairs.filter((pair) => pair.class === 'match');
  const found = new Set(matches.map((pair) => pairKey(pair.left, pair.right)));
  line('TF-IDF cosine', baseline);
  line('match', judge(found, truth));
  line('score from 0.9', judge(keys(0.9), truth));
  line('match or possible', judge(keys(0), truth));
  if (!right) line('clusters', judge(inClusters(result), truth));
  const all = right ? left.length * right.length : (left.length * (left.length - 1)) / 2;
  console.log(
    `  ${result.compared} pairs compared (${((100 * result.compared) / all).toFixed(2)} %), transitivity ${result.model.transitivity.toFixed(2)}, ${ms.toFixed(0)} ms`,
  );
  for (const pair of matches.filter((match) => !truth.has(pairKey(match.left, match.right))).slice(0, errors))
    console.log(pair, judged.left.find(({ id }) => id === pair.left)?.values);
}

function run({ left, right, fields }: Judged): { result: MatchResult; ms: number } {
  const start = performance.now();
  const result = right ? matchLists(left, right, { fields }) : findDuplicates(left, { fields });
  return { result, ms: performance.now() - start };
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

function scale(records: number): void {
  const judged = planted(records);
  const before = process.memoryUsage().rss;
  const { result, ms } = run(judged);
  const found = result.pairs.filter((pair) => pair.class === 'match');
  console.log(`\n${judged.name}: ${judged.left.length} x ${judged.right!.length} records`);
  line('match', judge(new Set(found.map((pair) => pairKey(pair.left, pair.right))), judged.truth));
  const most = process.resourceUsage().maxRSS / 1_024;
  console.log(
    `  ${result.compared} pairs compared, ${(ms / 1_000).toFixed(1)} s, at most ${most.toFixed(0)} MB (${(before / 1_048_576).toFixed(0)} MB before)`,
  );
}

main();
