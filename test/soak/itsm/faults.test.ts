import { expect, it } from 'vitest';
import { faults } from '../../emulators/servicenow/faults.ts';
import { createTestServices } from '../../support/harness.ts';
import { endure } from './endure.ts';

const seed = Number(process.env.ITSM_SEED);
const count = Number(process.env.ITSM_RUNS);

it(`both sides agree after faults of the remote, alone and two at once (seed ${seed})`, async () => {
  const t = await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1' });
  try {
    const began = performance.now();
    const { runs, failed, fired } = await endure(
      { services: t.services, ctx: await t.ctx() },
      {
        seed,
        // each has a run of both tables
        ordeals: Math.ceil(count / 2),
        size: { applications: 900, components: 600, relations: 1_200 },
        page: 100,
        reach: 25,
        lifetime: 25,
        stretch: 1,
        log: (text) => process.stdout.write(`${text}\n`),
      },
    );
    const minutes = ((performance.now() - began) / 60_000).toFixed(1);
    process.stdout.write(`${runs} runs, ${failed} of them failed for good, in ${minutes} minutes\n`);
    for (const fault of faults) process.stdout.write(`${fault}: ${fired.get(fault) ?? 0} calls\n`);
    if (count >= 2 * faults.length) expect([...fired.keys()].sort()).toEqual([...faults].sort());
  } finally {
    await t.close();
  }
});
