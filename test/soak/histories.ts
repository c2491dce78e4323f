import fc from 'fast-check';
import { allIsWell } from '../integrations/itsm/histories/wellness.ts';

/** Lives through many random histories of two sides that are kept in step. @returns whether all of them ended well. */
export async function liveHistories(count: number, seed: number): Promise<boolean> {
  console.log(`# ${count} histories of synchronisation, seed ${seed}`);
  const began = performance.now();
  const found = await fc.check(allIsWell(), { seed, numRuns: count });
  if (found.failed) {
    console.error(fc.defaultReportMessage(found));
    console.error((found.errorInstance as Error).message);
    console.error(`FAIL after ${found.numRuns} histories with seed ${seed}`);
    return false;
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(`ok: both sides agreed after each of ${count} histories, in ${seconds} s (seed ${seed})`);
  return true;
}
