import { expect, it } from 'vitest';
import { runRemoteScenarios } from '../../../soak/itsm/remotes.ts';
import { closeAfterAll, createTestApp } from '../../../support/harness.ts';

// `npm run soak -- --itsm --seed S` executes many more of them
const seed = Number(process.env.ITSM_SEED ?? 2611);

const t = closeAfterAll(await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1:*' }));

/** Retries wait in virtual time, but query the database each time, so that some faults take long. */
const PATIENCE_MS = 240_000;

it.each(['itop', 'netbox'] as const)(
  `both sides converge after faults of %s (seed ${seed})`,
  { timeout: PATIENCE_MS },
  async (kind) => {
    expect((await runRemoteScenarios(t, kind, { seed, scenarios: 2 })).size).toBeGreaterThan(0);
  },
);
