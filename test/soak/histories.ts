import fc from 'fast-check';
import type { TestProject } from 'vitest/node';
import { prepareInventory } from '../integrations/itsm/histories/stored.ts';
import { allIsWellStored } from '../integrations/itsm/histories/wellness.stored.ts';
import { allIsWell } from '../integrations/itsm/histories/wellness.ts';
import setup from '../support/global-setup.ts';
import { createTestServices } from '../support/harness.ts';

/** Where the two sides are: in memory, or in PostgreSQL and an emulated remote. */
export const throughs = ['memory', 'postgres'] as const;
export type Through = (typeof throughs)[number];

/** Lives through many random histories of two sides that are kept in step. @returns whether all of them ended well. */
export async function liveHistories(count: number, seed: number, through: Through): Promise<boolean> {
  console.log(`# ${count} histories of synchronisation through ${through}, seed ${seed}`);
  const began = performance.now();
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

const inMemory = async (numRuns: number, seed: number) => await fc.check(allIsWell(), { seed, numRuns });

async function inPostgres(numRuns: number, seed: number) {
  let server = '';
  const stop = await setup({
    provide: (_key: string, url: string) => (server = url),
  } as unknown as TestProject);
  try {
    const url = new URL(server);
    url.pathname = '/estate_template';
    const t = await createTestServices({}, { url: url.href, drop: async () => {} });
    try {
      await prepareInventory(await t.ctx());
      const all = allIsWellStored(t.services, () => t.ctx());
      // a shorter history would take as long again to be found
      return await fc.check(all, { seed, numRuns, endOnFailure: true });
    } finally {
      await t.close();
    }
  } finally {
    await stop();
  }
}
