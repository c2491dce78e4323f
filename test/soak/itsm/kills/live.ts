import { between, mix, mulberry32, pick, type Random } from '../../../bench/landscape/random.ts';
import type { Kind, Size } from '../landscape.ts';
import { createActs, type Diligence } from './acts.ts';
import { type Crew, startCrew } from './crew.ts';
import { createDeaths, type Death, deathTable } from './deaths.ts';
import { carry, type Errand, openPlace, type Parts, type Place, start } from './place.ts';
import { type Stage, stages } from './stages.ts';
import { differences, readState } from './state.ts';

/** A run, and how many workers die in it, or how. */
export interface MortalRun extends Errand {
  kills: number | Death[];
}

export interface Kills {
  seed: number;
  runs: Iterable<MortalRun>;
  /** Runs go on until so many workers have died; through all unless given. */
  kills?: number;
  size: Size;
  diligence: Diligence;
  log?: (text: string) => void;
}

export interface Killed {
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
 * after each. @throws Error that tells in what they differ.
 */
export async function killRuns(
  { undisturbed, disturbed }: { undisturbed: Parts; disturbed: Parts },
  { seed, runs, kills = Number.POSITIVE_INFINITY, size, diligence, log = () => {} }: Kills,
): Promise<Killed> {
  const random = mulberry32(mix(seed, 1));
  const killed: Killed = { runs: 0, kills: 0, stages: new Map() };
  const calm = await openPlace(undisturbed, size, seed);
  const rough = await openPlace(disturbed, size, seed);
  await disturbed.services.db.raw(deathTable);
  const crew = await startCrew(disturbed.services);
  try {
    for (const run of runs) {
      if (killed.kills >= kills) break;
      const at = killed.runs;
      if (run.how !== 'undo') {
        for (const act of await createActs(calm.world, random, at === 0 ? nothing : diligence)) {
          await act(calm.world);
          await act(rough.world);
        }
      }
      await calm.names.learn();
      await rough.names.learn();
      const measured = await carry(calm, run);
      const deaths = typeof run.kills === 'number' ? createDeaths(random, run.kills, measured) : run.kills;
      const died = await carryOver(rough, run, crew, { deaths, random });
      for (const stage of died) killed.stages.set(stage, (killed.stages.get(stage) ?? 0) + 1);
      killed.runs += 1;
      killed.kills += died.length;
      log(`${at + 1}: ${run.how} of ${run.of}s, ${measured.rows} rows, killed at ${died.join(', ')}`);
      const found = differences(
        await readState(calm.world, calm.names, calm.runId),
        await readState(rough.world, rough.names, rough.runId),
      );
      if (found.length > 0) {
        const told = `run ${at + 1} (${run.how} of ${run.of}s) with seed ${seed}, killed at ${died.join(', ')}`;
        throw new Error(`${told}:\n  ${found.join('\n  ')}\n  ${JSON.stringify(deaths)}`);
      }
    }
    return killed;
  } finally {
    await crew.close();
    await calm.world.close();
    await rough.world.close();
  }
}

const nothing: Diligence = { edits: 0, conflicts: 0, creations: 0, removals: 0, relations: 0 };

/** Carries a run out by workers of which one dies after the other. @returns at what it was each time. */
async function carryOver(
  place: Place,
  run: MortalRun,
  crew: Crew,
  { deaths, random }: { deaths: readonly Death[]; random: Random },
): Promise<Stage[]> {
  const { services, instance } = place.world;
  const { db } = services;
  const fallen: Stage[] = [];
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  let jobId = '';
  const appoint = async () => {
    const death = deaths[next];
    next += 1;
    instance.watch = undefined;
    instance.latency.answer = ANSWER_MS;
    await db('deaths').delete();
    if (!death) return;
    await db('deaths').insert({ death: JSON.stringify(death) });
    if (death.by === 'time') timer = setTimeout(() => void crew.kill(jobId), death.afterMs);
    if (death.by !== 'write') return;
    let writes = 0;
    instance.watch = ({ kind }) => {
      if (!['create', 'update', 'delete'].includes(kind)) return;
      writes += 1;
      if (writes !== death.write) return;
      instance.latency.answer = LATE_MS;
      void crew.kill(jobId);
    };
  };
  await crew.muster();
  await appoint();
  jobId = await start(place, run);
  while (await crew.bereaved(jobId)) {
    clearTimeout(timer);
    fallen.push(await stageOf(place));
    await appoint();
    await crew.goOn({ more: next <= deaths.length, forget: random() < FORGOTTEN });
  }
  clearTimeout(timer);
  instance.watch = undefined;
  return fallen;
}

async function stageOf({ world: { services }, runId }: Place): Promise<Stage> {
  const { rows } = await services.db.raw(
    `select stage, exists (select from itsm_plan_rows p where p.run_id = r.id and p.progress = 'begun') as outside
     from itsm_runs r where id = ?`,
    [runId],
  );
  const { stage, outside } = rows[0];
  if (stage === 'apply') return outside ? 'outside' : 'here';
  return stages.includes(stage) ? stage : 'verify';
}

/** Runs of both mappings in all directions without an end, in each of which up to ten workers die; the first ones pull. */
export function* createRuns(random: Random): Generator<MortalRun> {
  const run = (of: Kind['key'], how: Errand['how'], complete = false): MortalRun => {
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
