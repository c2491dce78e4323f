import { findDuplicates, findDuplicatesInSteps } from '../../../../integrations/analysis/matching/match.ts';
import type { MatchRecord } from '../../../../integrations/analysis/matching/matching.types.ts';
import { finish } from '../../../../integrations/analysis/matching/numbers.ts';
import type { PartedList } from '../../../../integrations/analysis/matching/parts.compare.ts';
import { findDuplicatesInParts, type PartLimits } from '../../../../integrations/analysis/matching/parts.ts';
import { ScratchFile } from '../../../../platform/scratch-file.ts';
import { KINDS, plantedIn } from '../../../bench/matching/planted.ts';

const parted = (records: readonly MatchRecord[], size: number): PartedList => {
  const parts = Array.from({ length: Math.ceil(records.length / size) }, (_, at) =>
    records.slice(at * size, (at + 1) * size),
  );
  return { counts: parts.map(({ length }) => length), read: (part) => parts[part]! };
};

function inParts(
  records: readonly MatchRecord[],
  size: number,
  options: Parameters<typeof findDuplicatesInParts>[1],
  limits?: PartLimits,
) {
  const file = new ScratchFile();
  try {
    return finish(findDuplicatesInParts(parted(records, size), options, file, limits));
  } finally {
    file.close();
  }
}

const vocabulary = { synonyms: [['Planning', 'Planung']], vendors: ['Acme'] };

test.each(KINDS.map((kind) => [kind.name, kind] as const))(
  'in parts, the same is found among %s',
  (_, kind) => {
    const { left, fields } = plantedIn(kind, 400);
    const decisions = [
      { left: left[300]!.id, right: left[3]!.id, same: false },
      { left: left[10]!.id, right: left[11]!.id, same: true },
    ];
    const whole = findDuplicates(left, { fields, decisions, vocabulary });
    const { snapshot, ...found } = inParts(left, 130, { fields, decisions, vocabulary });
    expect(found).toEqual({ ...whole, snapshot: undefined });
    expect(whole.pairs.length).toBeGreaterThan(20);
    expect(snapshot.ids).toEqual([]);
    // by a model
    const [applied, other] = [left.toSpliced(5, 3), { fields, model: whole.base }];
    const again = finish(findDuplicatesInSteps(() => applied, other));
    expect(inParts(applied, 150, other).pairs).toEqual(again.pairs);
  },
);

test('of many pairs, some are learned from, with nearly the same result', () => {
  const { left, fields } = plantedIn(KINDS[0]!, 1_500);
  const whole = findDuplicates(left, { fields });
  const some = inParts(left, 800, { fields }, { learned: 8_000, leastOdds: 1e-4 });
  expect(whole.compared).toBeGreaterThan(16_000);
  expect(some.model.learned.pairs).toBe(whole.compared);
  const keys = ({ pairs }: Pick<typeof whole, 'pairs'>) =>
    new Set(pairs.filter((pair) => pair.class === 'match').map((pair) => `${pair.left} ${pair.right}`));
  const [all, found] = [keys(whole), keys(some)];
  expect([...all].filter((key) => found.has(key)).length).toBeGreaterThan(0.95 * all.size);
  expect(found.size).toBeLessThan(1.05 * all.size);
});

test('in parts, improbable pairs speak against others as in a whole list', () => {
  const { left, fields } = plantedIn(KINDS[0]!, 300);
  const model = { ...findDuplicates(left, { fields }).base, exclusive: false };
  // the second of three is as both others, which contradict each other
  const threes = Array.from({ length: 60 }, (_, at) =>
    ['v1', '', 'v2'].map((version, place) => ({
      id: `z${1_000 + at * 3 + place}`,
      values: { name: `Quarz${at} Hafen${at * 7} ${version}` },
    })),
  );
  const all = [...left, ...threes.flat()];
  const whole = findDuplicates(all, { fields, model });
  expect(whole.pairs.filter(({ score, alone }) => score < alone).length).toBeGreaterThan(50);
  const found = inParts(all, 250, { fields, model }, { learned: 10, leastOdds: 1e-4 });
  expect(found.pairs).toEqual(whole.pairs);
});
