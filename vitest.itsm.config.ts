import { defineConfig } from 'vitest/config';

/** What synchronisation has to stand, as `npm run soak -- --itsm` puts it to the test: long, in a process of its own. */
export default defineConfig({
  test: {
    include: ['test/soak/itsm/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 3 * 60 * 60_000,
    hookTimeout: 60_000,
  },
});
