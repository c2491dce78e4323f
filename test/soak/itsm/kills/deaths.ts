import { between, pick, type Random } from '../../../bench/landscape/random.ts';
import { type Stage, stages } from './stages.ts';

/** How the worker that carries a run is to die. */
export type Death =
  /** By its own hand, at this statement from the stage's first on. */
  | { by: 'statement'; stage: Stage; statement: number; moment: 'before' | 'sent' | 'after' }
  /** While the answer to this write of the run is on its way to it. */
  | { by: 'write'; write: number }
  /** So long after it has begun. */
  | { by: 'time'; afterMs: number };

/** The table in which a worker finds how it is to die. */
export const deathTable = 'drop table if exists deaths; create table deaths (death jsonb not null)';

/** How many statements a stage takes when nobody is killed. */
export type Lengths = Partial<Record<Stage, number>>;

/** Deaths of the workers of one run, in the order in which they come. @param ms how long it takes undisturbed. */
export function createDeaths(
  random: Random,
  count: number,
  { lengths, writes, ms }: { lengths: Lengths; writes: number; ms: number },
): Death[] {
  const possible = stages.filter((stage) => lengths[stage]);
  const chosen = Array.from({ length: count }, (_, at): { at: number; death: Death } => {
    const stage = possible[at % possible.length]!;
    const order = stages.indexOf(stage);
    if (stage === 'outside' && writes > 0 && random() < 0.5) {
      return { at: order, death: { by: 'write', write: between(random, 1, Math.ceil(writes / 3)) } };
    }
    if (random() < 0.15) return { at: order, death: { by: 'time', afterMs: between(random, 0, ms) } };
    // those that died in it before have left less of it
    const shares = Math.ceil(count / possible.length) + 1;
    const statement = between(random, 1, Math.ceil(lengths[stage]! / shares));
    const moment = pick(random, ['before', 'sent', 'after'] as const);
    return { at: order, death: { by: 'statement', stage, statement, moment } };
  });
  return chosen.sort((a, b) => a.at - b.at).map(({ death }) => death);
}
