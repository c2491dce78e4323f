import { between, pick, type Random } from '../../../bench/landscape/random.ts';
import { type Stage, stages } from './stages.ts';

/** How the worker that executes a run is killed. */
export type PlannedKill =
  /** By itself, at this statement from the stage's first on. */
  | { by: 'statement'; stage: Stage; statement: number; moment: 'before' | 'sent' | 'after' }
  /** While the answer to this write of the run is on its way to it. */
  | { by: 'write'; write: number }
  /** So long after it has begun. */
  | { by: 'time'; afterMs: number };

/** The table from which a worker reads when it is killed. */
export const killTable =
  'drop table if exists planned_kills; create table planned_kills (kill jsonb not null)';

/** How many statements a stage takes when nobody is killed. */
export type Lengths = Partial<Record<Stage, number>>;

/** PlannedKills of the workers of one run, in the order in which they come. @param ms how long it takes undisturbed. */
export function planKills(
  random: Random,
  count: number,
  { lengths, writes, ms }: { lengths: Lengths; writes: number; ms: number },
): PlannedKill[] {
  const possible = stages.filter((stage) => lengths[stage]);
  const chosen = Array.from({ length: count }, (_, at): { at: number; kill: PlannedKill } => {
    const stage = possible[at % possible.length]!;
    const order = stages.indexOf(stage);
    if (stage === 'outside' && writes > 0 && random() < 0.5)
      return { at: order, kill: { by: 'write', write: between(random, 1, Math.ceil(writes / 3)) } };
    if (random() < 0.15) return { at: order, kill: { by: 'time', afterMs: between(random, 0, ms) } };
    // those that died in it before have left less of it
    const shares = Math.ceil(count / possible.length) + 1;
    const statement = between(random, 1, Math.ceil(lengths[stage]! / shares));
    const moment = pick(random, ['before', 'sent', 'after'] as const);
    return { at: order, kill: { by: 'statement', stage, statement, moment } };
  });
  return chosen.sort((a, b) => a.at - b.at).map(({ kill }) => kill);
}
