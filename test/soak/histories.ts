import fc from 'fast-check';
import type { TestProject } from 'vitest/node';
import { createVirtualClock } from '../emulators/virtual-clock.ts';
import { everyStoredHistoryConverges } from '../integrations/exchange/itsm/histories/convergence.stored.ts';
import { everyHistoryConverges } from '../integrations/exchange/itsm/histories/convergence.ts';
import { prepareInventory } from '../integrations/exchange/itsm/histories/stored.ts';
import setup from '../support/global-setup.ts';
import { createTestServices, type TestServices } from '../support/harness.ts';
import { liveManyRelations, openRelationHistories } from './itsm/relations.ts';

/** Where the two sides are: in memory, or in PostgreSQL and an emulated remote; there with relations between two mappings, too. */
export const throughs = ['memory', 'postgres', 'relations'] as const;
export type Through = (typeof throughs)[number];

/** Lives through many random histories of two sides that are kept in step. @returns whether all of them ended well. */
export async function liveHistories(count: number, seed: number, through: Through): Promise<boolean> {
  console.log(`# ${count} histories of synchronisation through ${through}, seed ${seed}`);
  const began = performance.now();
  if (through === 'relations') return await ofRelations(count, seed);
  const found = through === 'memory' ? await inMemory(count, seed) : await inPostgres(count, seed);
  if (found.failed) {
    console.error(fc.defaultReportMessage(found as fc.RunDetails<unknown>));
    console.error((found.errorInstance as Error).message);
    console.error(`FAIL after ${found.numRuns} histories with seed ${seed}`);
    return false;
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`ok: both sides agreed after each of ${count} histories, in ${seconds} s (seed ${seed})`);
  return true;
}

const inMemory = (numRuns: number, seed: number) => fc.check(everyHistoryConverges(), { seed, numRuns });

async function inPostgres(numRuns: number, seed: number) {
  return await withServices({}, async (t) => {
    await prepareInventory(await t.ctx());
    const all = everyStoredHistoryConverges(t.services, () => t.ctx());
    // a shorter history would take as long again to be found
    return await fc.check(all, { seed, numRuns, endOnFailure: true });
  });
}

async function ofRelations(count: number, seed: number): Promise<boolean> {
  return await withServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }, async (t) => {
    const parts = { services: t.services, ctx: await t.ctx() };
    const histories = openRelationHistories(parts, createVirtualClock(Date.now()));
    try {
      await liveManyRelations(histories, count, seed);
      console.log(`ok: both sides had the same relations after each of ${count} histories (seed ${seed})`);
      return true;
    } catch (error) {
      console.error(`FAIL with seed ${seed}: ${(error as Error).message}`);
      return false;
    } finally {
      await histories.driver.close();
    }
  });
}

/** On a PostgreSQL of its own. */
async function withServices<T>(env: Record<string, string>, use: (t: TestServices) => Promise<T>) {
  let server = '';
  const stop = await setup({
    provide: (key: string, value: string) => {
      if (key === 'serverUrl') server = value;
    },
  } as unknown as TestProject);
  try {
    const url = new URL(server);
    url.pathname = '/estate_template';
    const t = await createTestServices(env, { url: url.href, drop: async () => {} });
    try {
      return await use(t);
    } finally {
      await t.close();
    }
  } finally {
    await stop();
  }
}
