import { defineConfig } from 'vitest/config';

/** Requests at random, as `npm run soak -- --requests N` makes them: one long test in a process of its own. */
export default defineConfig({
  test: {
    include: ['test/random/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 3 * 60 * 60_000,
    hookTimeout: 60_000,
  },
});
