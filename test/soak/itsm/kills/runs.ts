import { undoRun } from '../../../../integrations/exchange/itsm/runs/run.undo.ts';
import { openDatabase } from '../../../../platform/database.ts';
import { createRunner } from '../../../../workers/runner.ts';
import type { Random } from '../../../bench/landscape/random.ts';
import { jobRow } from '../../../support/jobs.ts';
import type { Kind, Size } from '../landscape.ts';
import { begin, createWorld, type World } from '../world.ts';
import { type ActCounts, createActs } from './acts.ts';
import { plainProcessor } from './killed.processors.ts';
import { killTable, type Lengths } from './plan.ts';
import { watchStages } from './stages.ts';
import { createNames, type Names } from './state.ts';
import { startWorkerPair } from './workers.ts';

type Parts = Pick<World, 'services' | 'ctx'>;

/** A run that is asked for: of which mapping, and which way; or what takes the last one back. */
export type RunRequest = { of: Kind['key']; how: 'pull' | 'push' | 'both' | 'undo'; complete?: boolean };

/** A world, and the run that it had last. */
export interface TestWorld {
  world: World;
  names: Names;
  /** The last run. */
  runId: string;
}

async function openTestWorld(parts: Parts, size: Size, seed: number): Promise<TestWorld> {
  const world = await createWorld(parts, size, { seed: String(seed) });
  // what both sides have written differently is left to a person
  await parts.services
    .db('itsm_field_mappings')
    .where({ card_field: 'description' })
    .update({ direction: 'manual' });
  return { world, names: createNames(world), runId: '' };
}

/** Databases for a world with undisturbed runs, and for one whose workers are killed. */
export type Both = { undisturbed: Parts; disturbed: Parts };

/** Opens two worlds in which people do the same; the runs of one are executed by workers that can be killed. */
export async function openWorlds(both: Both, size: Size, seed: number) {
  const undisturbed = await openTestWorld(both.undisturbed, size, seed);
  const disturbed = await openTestWorld(both.disturbed, size, seed);
  await both.disturbed.services.db.raw(killTable);
  const workers = await startWorkerPair(both.disturbed.services);
  return {
    undisturbed,
    disturbed,
    workers,
    /** People act in both worlds. */
    async act(random: Random, counts: ActCounts): Promise<void> {
      for (const act of await createActs(undisturbed.world, random, counts)) {
        await act(undisturbed.world);
        await act(disturbed.world);
      }
    },
    async [Symbol.asyncDispose]() {
      await workers.close();
      await undisturbed.world.close();
      await disturbed.world.close();
    },
  };
}

export async function start(target: TestWorld, { of, how, complete = false }: RunRequest): Promise<string> {
  const { world } = target;
  const { db } = world.services;
  // the pace is not what is tried here
  await db.raw(`update itsm_account_limits set state = state || '{"rate": 100}' where state is not null`);
  target.runId =
    how === 'undo'
      ? await undoRun(world.ctx, target.runId)
      : await begin(world, world.mappings[of], { complete, ...(how === 'both' ? {} : { direction: how }) });
  return (await db('itsm_runs').where({ id: target.runId }).first('job_id')).job_id;
}

/** How long an undisturbed run is. */
export type Measured = { lengths: Lengths; writes: number; ms: number; rows: number };

/** Executes a run in this process. */
export async function runUndisturbed(target: TestWorld, run: RunRequest): Promise<Measured> {
  const { services, instance } = target.world;
  const leases = openDatabase({ url: services.config.databaseUrl!, name: 'leases', poolMax: 2 });
  const runner = createRunner({ services, leases, processors: [plainProcessor] });
  const lengths: Lengths = {};
  const jobId = await start(target, run);
  const unwatch = watchStages(services.db, (stage, moment) => {
    if (moment === 'before') lengths[stage] = (lengths[stage] ?? 0) + 1;
  });
  const written = instance.writes.length;
  const began = performance.now();
  try {
    const { attempt } = await jobRow(services, jobId);
    await runner.run({ id: jobId, attempt });
  } finally {
    unwatch();
    await leases.destroy();
  }
  const planned = await services.db('itsm_plan_rows').where({ run_id: target.runId }).select('no');
  const writes = instance.writes.length - written;
  return { lengths, writes, ms: performance.now() - began, rows: planned.length };
}
