import { mix, mulberry32 } from '../../bench/landscape/random.ts';
import { createTestServices } from '../../support/harness.ts';
import { cancelRuns } from './kills/cancel.ts';
import { createRuns, killRuns } from './kills/run.ts';
import { stages } from './kills/stages.ts';

const seed = Number(process.env.ITSM_SEED);
const count = Number(process.env.ITSM_KILLS);

it(`runs whose workers are killed at ${count} moments end as undisturbed ones (seed ${seed})`, async () => {
  // for the worker processes as well
  vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
  const undisturbed = await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  const disturbed = await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' });
  try {
    const began = performance.now();
    const both = {
      undisturbed: { services: undisturbed.services, ctx: await undisturbed.ctx() },
      disturbed: { services: disturbed.services, ctx: await disturbed.ctx() },
    };
    const stakes = {
      seed,
      size: { applications: 120, components: 80, relations: 160 },
      actCounts: { edits: 12, conflicts: 4, creations: 4, removals: 2, relations: 4 },
      log: (text: string) => void process.stdout.write(`${text}\n`),
    };
    const killed = await killRuns(both, {
      ...stakes,
      runs: createRuns(mulberry32(mix(seed, 3))),
      kills: count,
    });
    const minutes = ((performance.now() - began) / 60_000).toFixed(1);
    process.stdout.write(`${killed.kills} kills in ${killed.runs} runs, in ${minutes} minutes\n`);
    for (const stage of stages) process.stdout.write(`${stage}: ${killed.stages.get(stage) ?? 0} kills\n`);
    const { cancelled, killed: besides } = await cancelRuns(both, { ...stakes, runs: Math.ceil(count / 20) });
    process.stdout.write(`${cancelled} runs cancelled, ${besides} of them killed as well\n`);
    if (count >= 50) expect([...killed.stages.keys()].sort()).toEqual([...stages].sort());
  } finally {
    vi.unstubAllEnvs();
    await undisturbed.close();
    await disturbed.close();
  }
});
