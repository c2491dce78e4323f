import { mix, mulberry32, pick, type Random } from '../../bench/landscape/random.ts';
import { type Fault, faults } from '../../emulators/servicenow/faults.ts';
import { createScenario, type Scenario } from './scenario.ts';

const alone: Fault[][] = faults.map((fault) => [fault]);
const pairs: Fault[][] = faults.flatMap((one, at) => faults.slice(at + 1).map((other) => [one, other]));

/** What faults that come together are called, in whatever order. */
export const nameOf = (some: readonly Fault[]): string => [...some].sort().join('+');

/** Every fault alone, and every two of them. */
export const combinations: string[] = [...alone, ...pairs].map(nameOf);

/** A scenario of faults that have not come together so far; undefined where all have. */
export function untestedScenario(
  together: ReadonlyMap<string, number>,
  random: Random,
  reach: number,
): Scenario | undefined {
  const missed = [...alone, ...pairs].filter((some) => !together.has(nameOf(some)));
  return missed.length === 0 ? undefined : createScenario(pick(random, missed), random, reach);
}

/** A scenario of a fault that has affected no call so far; undefined where all have. */
export function unfiredScenario(
  fired: ReadonlyMap<Fault, number>,
  random: Random,
  reach: number,
): Scenario | undefined {
  const unmet = alone.filter(([fault]) => !fired.has(fault!));
  return unmet.length === 0 ? undefined : createScenario(pick(random, unmet), random, reach);
}

/** Every fault alone, then every two of them, in an order of the seed's; repeated when all have been used. */
export function scenarios(seed: number, count: number, reach: number): Scenario[] {
  const random = mulberry32(mix(seed, 2));
  const shuffled = <T>(all: T[]): T[] =>
    all
      .map((one) => [random(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  const chosen: Fault[][] = [];
  while (chosen.length < count) chosen.push(...shuffled(alone), ...shuffled(pairs));
  return chosen.slice(0, count).map((some) => createScenario(some, random, reach));
}
