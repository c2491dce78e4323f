import { setTimeout as delay } from 'node:timers/promises';
import { cancelRun } from '../../../../domain/exchange/itsm/runs.review.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { between, mix, mulberry32, pick } from '../../../bench/landscape/random.ts';
import { kinds, type Size } from '../landscape.ts';
import type { ActCounts } from './acts.ts';
import { type Both, openWorlds, runUndisturbed, start, type TestWorld } from './runs.ts';
import { differences, readState, type State } from './state.ts';
import type { WorkerPair } from './workers.ts';

/** What runs that were cancelled must leave as others do, once others have followed; the sync state may have another origin. */
const compared = ['cards', 'records', 'remote relations', 'left over'];

export interface Cancelled {
  /** Runs that were cancelled in time. */
  cancelled: number;
  /** Of these, with a worker that was killed as well. */
  killed: number;
}

/**
 * Cancels runs at random moments and kills their workers before or after, and has others follow: both sides come to what
 * they come to without. @throws Error that describes how they differ.
 */
export async function cancelRuns(
  both: Both,
  { seed, runs, size, actCounts }: { seed: number; runs: number; size: Size; actCounts: ActCounts },
): Promise<Cancelled> {
  const random = mulberry32(mix(seed, 4));
  await using worlds = await openWorlds(both, size, seed);
  const { undisturbed, disturbed, workers } = worlds;
  const found: Cancelled = { cancelled: 0, killed: 0 };
  await settle(undisturbed);
  await settle(disturbed, workers);
  for (let at = 1; at <= runs; at += 1) {
    await worlds.act(random, actCounts);
    const { key } = pick(random, kinds);
    const began = performance.now();
    await settle(undisturbed);
    const jobId = await start(disturbed, { of: key, how: 'both' });
    await delay(between(random, 0, (performance.now() - began) / 2));
    const kills = random();
    if (kills < 0.4) await workers.kill(jobId);
    if (await cancel(disturbed)) found.cancelled += 1;
    if (kills >= 0.4 && kills < 0.8) await workers.kill(jobId);
    while (await workers.holderDied(jobId)) {
      found.killed += 1;
      await workers.resume({ more: true, forget: false });
    }
    await settle(disturbed, workers);
    const wrong = differences(await sidesOf(undisturbed), await sidesOf(disturbed));
    if (wrong.length > 0)
      throw new Error(`after cancelled run ${at} with seed ${seed}:\n  ${wrong.join('\n  ')}`);
  }
  return found;
}

/** @returns whether the run was not over. */
async function cancel({ world, runId }: TestWorld): Promise<boolean> {
  try {
    await cancelRun(world.ctx, runId);
    return true;
  } catch (error) {
    if (error instanceof EstateError && error.code === 'wrong_state') return false;
    throw error;
  }
}

/** Enough runs for all that one kind's leave to the other's. */
async function settle(target: TestWorld, workers?: WorkerPair): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    for (const { key } of kinds) {
      const request = { of: key, how: 'both' } as const;
      if (!workers) await runUndisturbed(target, request);
      else if (await workers.holderDied(await start(target, request)))
        throw new Error('a worker died that nobody killed');
      const run = await target.world.services.db('itsm_runs').where({ id: target.runId }).first();
      if (run.status !== 'completed')
        throw new Error(`a run that follows has ended as ${run.status}: ${run.stopped ?? run.error_message}`);
    }
  }
}

async function sidesOf(target: TestWorld): Promise<State> {
  const state = await readState(target.world, target.names, target.runId);
  return {
    ...Object.fromEntries(compared.map((name) => [name, state[name]!])),
    relations: await livingRelations(target),
  };
}

/**
 * Relations between cards that are there. A record takes its relations with it: whether these go here before their card is
 * archived, or stay with it, lies with which of the two mappings runs first after that.
 */
async function livingRelations({ world }: TestWorld): Promise<string[]> {
  const { rows } = await world.services.db.raw(`
     select r.type, s.name as source, t.name as target from relations r
     join cards s on s.id = r.source_id and s.status = 'ACTIVE'
     join cards t on t.id = r.target_id and t.status = 'ACTIVE'`);
  return rows.map((row: { type: string; source: string; target: string }) => JSON.stringify(row)).sort();
}
