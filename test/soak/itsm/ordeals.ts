import { mix, mulberry32 } from '../../bench/landscape/random.ts';
import { type Fault, faults } from '../../emulators/servicenow/faults.ts';
import { createOrdeal, type Ordeal } from './suffer.ts';

const alone: Fault[][] = faults.map((fault) => [fault]);
const pairs: Fault[][] = faults.flatMap((one, at) => faults.slice(at + 1).map((other) => [one, other]));

/** What faults that come together are called, in whatever order. */
export const nameOf = (some: readonly Fault[]): string => [...some].sort().join('+');

/** Every fault alone, and every two of them. */
export const combinations: string[] = [...alone, ...pairs].map(nameOf);

/** Every fault alone, then every two of them, in an order of the seed's; begun anew when all have been. */
export function ordeals(seed: number, count: number, reach: number): Ordeal[] {
  const random = mulberry32(mix(seed, 2));
  const shuffled = <T>(all: T[]): T[] =>
    all
      .map((one) => [random(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  const chosen: Fault[][] = [];
  while (chosen.length < count) chosen.push(...shuffled(alone), ...shuffled(pairs));
  return chosen.slice(0, count).map((some) => createOrdeal(some, random, reach));
}
