import { query } from '../../../../platform/database.ts';
import { between, mix, mulberry32, pick, type Random } from '../../../bench/landscape/random.ts';
import type { Kind, Size } from '../landscape.ts';
import type { ActCounts } from './acts.ts';
import { type PlannedKill, planKills } from './plan.ts';
import { type Both, openWorlds, type RunRequest, runUndisturbed, start, type TestWorld } from './runs.ts';
import { type Stage, stages } from './stages.ts';
import { differences, readState } from './state.ts';
import type { WorkerPair } from './workers.ts';

/** A run, and how many workers die in it, or how. */
export interface KilledRun extends RunRequest {
  kills: number | PlannedKill[];
}

export interface KillOptions {
  seed: number;
  runs: Iterable<KilledRun>;
  /** Runs follow until so many workers have died; all of them unless given. */
  kills?: number;
  size: Size;
  actCounts: ActCounts;
  log?: (text: string) => void;
}

export interface KillTotals {
  runs: number;
  kills: number;
  /** How many died at each stage. */
  stages: Map<Stage, number>;
}

/** How long an answer to a write is on its way, in milliseconds. */
const ANSWER_MS = 25;
/** How long answers stay away when a worker is to die meanwhile: its name has to be asked for first. */
const LATE_MS = 5_000;
/** How often the queue loses all it has with a worker. */
const FORGOTTEN = 0.2;

/**
 * Has the same runs in two worlds in which people do the same, one of them with workers that die, and compares the worlds
 * after each. @throws Error that describes how they differ.
 */
export async function killRuns(
  both: Both,
  { seed, runs, kills = Number.POSITIVE_INFINITY, size, actCounts, log = () => {} }: KillOptions,
): Promise<KillTotals> {
  const random = mulberry32(mix(seed, 1));
  const killed: KillTotals = { runs: 0, kills: 0, stages: new Map() };
  await using worlds = await openWorlds(both, size, seed);
  const { undisturbed, disturbed, workers } = worlds;
  const stateOf = ({ world, names, runId }: TestWorld) => readState(world, names, runId);
  for (const run of runs) {
    if (killed.kills >= kills) break;
    const at = killed.runs;
    if (run.how !== 'undo') await worlds.act(random, at === 0 ? nothing : actCounts);
    await undisturbed.names.learn();
    await disturbed.names.learn();
    const measured = await runUndisturbed(undisturbed, run);
    const planned = typeof run.kills === 'number' ? planKills(random, run.kills, measured) : run.kills;
    const died = await runWithKills(disturbed, run, workers, { planned, random });
    for (const stage of died) killed.stages.set(stage, (killed.stages.get(stage) ?? 0) + 1);
    killed.runs += 1;
    killed.kills += died.length;
    log(`${at + 1}: ${run.how} of ${run.of}s, ${measured.rows} rows, killed at ${died.join(', ')}`);
    const found = differences(await stateOf(undisturbed), await stateOf(disturbed));
    if (found.length > 0) {
      const what = `run ${at + 1} (${run.how} of ${run.of}s) with seed ${seed}, killed at ${died.join(', ')}`;
      throw new Error(`${what}:\n  ${found.join('\n  ')}\n  ${JSON.stringify(planned)}`);
    }
  }
  return killed;
}

const nothing: ActCounts = { edits: 0, conflicts: 0, creations: 0, removals: 0, relations: 0 };

/** Executes a run by workers of which one dies after the other. @returns the stage at each death. */
async function runWithKills(
  target: TestWorld,
  run: KilledRun,
  workers: WorkerPair,
  { planned, random }: { planned: readonly PlannedKill[]; random: Random },
): Promise<Stage[]> {
  const { services, instance } = target.world;
  const { db } = services;
  const killedAt: Stage[] = [];
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  let jobId = '';
  const armNext = async () => {
    const kill = planned[next];
    next += 1;
    instance.watch = undefined;
    instance.latency.answer = ANSWER_MS;
    await db('planned_kills').delete();
    if (!kill) return;
    await db('planned_kills').insert({ kill: JSON.stringify(kill) });
    if (kill.by === 'time') timer = setTimeout(() => void workers.kill(jobId), kill.afterMs);
    if (kill.by !== 'write') return;
    let writes = 0;
    instance.watch = ({ kind }) => {
      if (!['create', 'update', 'delete'].includes(kind)) return;
      writes += 1;
      if (writes !== kill.write) return;
      instance.latency.answer = LATE_MS;
      void workers.kill(jobId);
    };
  };
  await workers.ensureTwo();
  await armNext();
  jobId = await start(target, run);
  while (await workers.holderDied(jobId)) {
    clearTimeout(timer);
    killedAt.push(await stageOf(target));
    await armNext();
    await workers.resume({ more: next <= planned.length, forget: random() < FORGOTTEN });
  }
  clearTimeout(timer);
  instance.watch = undefined;
  return killedAt;
}

async function stageOf({ world: { services }, runId }: TestWorld): Promise<Stage> {
  const rows = await query(services.db).rows`
     select stage,
       exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'started') as outside
     from itsm_runs r where id = ${runId}`;
  const { stage, outside } = rows[0];
  if (stage === 'apply') return outside ? 'outside' : 'here';
  return stages.includes(stage) ? stage : 'verify';
}

/** Runs of both mappings in all directions without an end, in each of which up to ten workers die; the first ones pull. */
export function* createRuns(random: Random): Generator<KilledRun> {
  const run = (of: Kind['key'], how: RunRequest['how'], complete = false): KilledRun => {
    return { of, how, complete, kills: between(random, 4, 10) };
  };
  yield run('component', 'pull');
  yield run('application', 'pull');
  for (;;) {
    const of = pick(random, ['component', 'application', 'application'] as const);
    yield run(of, pick(random, ['pull', 'push', 'both', 'both'] as const), random() < 0.25);
    if (random() < 0.2) yield run(of, 'undo');
  }
}
