import { faults } from '../../emulators/servicenow/faults.ts';
import { createTestApp, createTestServices } from '../../support/harness.ts';
import { runRemoteScenarios } from './remotes.ts';
import { combinations, runScenarios } from './scenarios.ts';

/** After so many scenarios every fault and every two of them have affected calls. */
const ENOUGH = 500;

const seed = Number(process.env.ITSM_SEED);
const count = Number(process.env.ITSM_RUNS);

it(`both sides agree after faults of the remote, alone and two at once (seed ${seed})`, async () => {
  const t = await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  try {
    const began = performance.now();
    const { runs, failed, fired, together } = await runScenarios(
      { services: t.services, ctx: await t.ctx() },
      {
        seed,
        scenarios: count,
        size: { applications: 900, components: 600, relations: 1_200 },
        page: 100,
        reach: 25,
        scenariosPerWorld: 25,
        scenariosPerCheck: 5,
        log: (text) => process.stdout.write(`${text}\n`),
      },
    );
    const minutes = ((performance.now() - began) / 60_000).toFixed(1);
    process.stdout.write(`${runs} runs, ${failed} of them failed for good, in ${minutes} minutes\n`);
    for (const fault of faults) process.stdout.write(`${fault}: ${fired.get(fault) ?? 0} calls\n`);
    const missing = combinations.filter((one) => !together.has(one));
    process.stdout.write(`${combinations.length - missing.length} of ${combinations.length} combinations\n`);
    if (count >= ENOUGH) expect(missing, 'faults that have not come together').toEqual([]);
  } finally {
    await t.close();
  }
});

it.each(['itop', 'netbox'] as const)(`both sides agree after faults of %s (seed ${seed})`, async (kind) => {
  const t = await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  try {
    const fired = await runRemoteScenarios(t, kind, { seed, scenarios: Math.ceil(count / 25) });
    process.stdout.write(`${kind}: ${[...fired].map(([fault, calls]) => `${fault} ${calls}`).join(', ')}\n`);
  } finally {
    await t.close();
  }
});
