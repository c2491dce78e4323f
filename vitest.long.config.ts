import { defineConfig } from 'vitest/config';

/** Long tests that `npm run soak` starts, each in a process of its own. */
export default defineConfig({
  test: {
    include: ['test/soak/itsm/*.test.ts', 'test/random/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    pool: 'forks',
    globals: true,
    maxWorkers: 1,
    testTimeout: 3 * 60 * 60_000,
    hookTimeout: 60_000,
  },
});
