// @redis
import { killRuns } from '../soak/itsm/kills/run.ts';
import { closeAfterAll, createTestServices } from '../support/harness.ts';

// `npm run soak -- --itsm-kills 200` goes through many more of them, with more at stake and seeds at random
const seed = 5;

// for the worker processes as well
vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
const undisturbed = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const disturbed = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));

afterAll(() => vi.unstubAllEnvs());

it(`a run and its undo end as undisturbed ones though their workers are killed at eight moments (seed ${seed})`, async () => {
  const { kills, stages } = await killRuns(
    {
      undisturbed: { services: undisturbed.services, ctx: await undisturbed.ctx() },
      disturbed: { services: disturbed.services, ctx: await disturbed.ctx() },
    },
    {
      seed,
      runs: [
        { of: 'component', how: 'pull', kills: 0 },
        {
          of: 'application',
          how: 'both',
          kills: [
            { by: 'statement', stage: 'read', statement: 30, moment: 'sent' },
            { by: 'statement', stage: 'plan', statement: 6, moment: 'before' },
            { by: 'statement', stage: 'here', statement: 12, moment: 'sent' },
            { by: 'write', write: 3 },
            { by: 'statement', stage: 'verify', statement: 4, moment: 'after' },
          ],
        },
        {
          of: 'application',
          how: 'undo',
          kills: [
            { by: 'statement', stage: 'plan', statement: 5, moment: 'sent' },
            { by: 'statement', stage: 'here', statement: 10, moment: 'before' },
            { by: 'write', write: 2 },
          ],
        },
      ],
      size: { applications: 30, components: 20, relations: 30 },
      actCounts: { edits: 3, conflicts: 2, creations: 3, removals: 1, relations: 2 },
    },
  );
  expect(kills).toBe(8);
  expect([...stages.keys()].sort()).toEqual(['here', 'outside', 'plan', 'read', 'verify']);
}, 180_000);
