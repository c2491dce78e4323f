import { setTimeout as delay } from 'node:timers/promises';
import { cancelRun } from '../../../../domain/exchange/itsm/runs.commands.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { between, mix, mulberry32, pick } from '../../../bench/landscape/random.ts';
import { kinds, type Size } from '../landscape.ts';
import { createActs, type Diligence } from './acts.ts';
import { type Crew, startCrew } from './crew.ts';
import { deathTable } from './deaths.ts';
import { carry, openPlace, type Parts, type Place, start } from './place.ts';
import { differences, readState, type State } from './state.ts';

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
 * they come to without. @throws Error that tells in what they differ.
 */
export async function cancelRuns(
  { undisturbed, disturbed }: { undisturbed: Parts; disturbed: Parts },
  { seed, runs, size, diligence }: { seed: number; runs: number; size: Size; diligence: Diligence },
): Promise<Cancelled> {
  const random = mulberry32(mix(seed, 4));
  const calm = await openPlace(undisturbed, size, seed);
  const rough = await openPlace(disturbed, size, seed);
  await disturbed.services.db.raw(deathTable);
  const crew = await startCrew(disturbed.services);
  const found: Cancelled = { cancelled: 0, killed: 0 };
  try {
    await settle(calm);
    await settle(rough, crew);
    for (let at = 1; at <= runs; at += 1) {
      for (const act of await createActs(calm.world, random, diligence)) {
        await act(calm.world);
        await act(rough.world);
      }
      const { key } = pick(random, kinds);
      const began = performance.now();
      await settle(calm);
      const jobId = await start(rough, { of: key, how: 'both' });
      await delay(between(random, 0, (performance.now() - began) / 2));
      const kills = random();
      if (kills < 0.4) await crew.kill(jobId);
      if (await cancel(rough)) found.cancelled += 1;
      if (kills >= 0.4 && kills < 0.8) await crew.kill(jobId);
      while (await crew.bereaved(jobId)) {
        found.killed += 1;
        await crew.goOn({ more: true, forget: false });
      }
      await settle(rough, crew);
      const wrong = differences(await sidesOf(calm), await sidesOf(rough));
      if (wrong.length > 0) {
        throw new Error(`after cancelled run ${at} with seed ${seed}:\n  ${wrong.join('\n  ')}`);
      }
    }
    return found;
  } finally {
    await crew.close();
    await calm.world.close();
    await rough.world.close();
  }
}

/** @returns whether the run was not over. */
async function cancel({ world, runId }: Place): Promise<boolean> {
  try {
    await cancelRun(world.ctx, runId);
    return true;
  } catch (error) {
    if (error instanceof EstateError && error.code === 'wrong_state') return false;
    throw error;
  }
}

/** Enough runs for all that one kind's leave to the other's. */
async function settle(place: Place, crew?: Crew): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    for (const { key } of kinds) {
      const errand = { of: key, how: 'both' } as const;
      if (!crew) await carry(place, errand);
      else if (await crew.bereaved(await start(place, errand)))
        throw new Error('a worker died that nobody killed');
      const run = await place.world.services.db('itsm_runs').where({ id: place.runId }).first();
      if (run.status !== 'completed')
        throw new Error(`a run that follows has ended as ${run.status}: ${run.stopped ?? run.error_message}`);
    }
  }
}

async function sidesOf(place: Place): Promise<State> {
  const state = await readState(place.world, place.names, place.runId);
  return {
    ...Object.fromEntries(compared.map((name) => [name, state[name]!])),
    relations: await livingRelations(place),
  };
}

/**
 * Relations between cards that are there. A record takes its relations with it: whether these go here before their card is
 * archived, or stay with it, lies with which of the two mappings runs first after that.
 */
async function livingRelations({ world }: Place): Promise<string[]> {
  const { rows } = await world.services.db.raw(
    `select r.type, s.name as source, t.name as target from relations r
     join cards s on s.id = r.source_id and s.status = 'ACTIVE'
     join cards t on t.id = r.target_id and t.status = 'ACTIVE'`,
  );
  return rows.map((row: { type: string; source: string; target: string }) => JSON.stringify(row)).sort();
}
