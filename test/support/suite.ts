import type { ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

/** Folders whose files only drive the application, each file on a database of its own. */
const together = ['access', 'api', 'checks', 'deploy', 'domain', 'reports'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

/** Parts that are begun by commands of their own. */
export const notInSuite = ['test/bench/**', 'test/soak/**', 'test/random/**'];

/** How the suite runs. @param skip patterns of files to leave out. */
export function suite(skip: string[] = []): ViteUserConfig {
  const shared = { pool: 'forks', maxWorkers: 2, testTimeout: 60_000, hookTimeout: 60_000 } as const;
  const exclude = [...notInSuite, ...skip];
  return {
    test: {
      globalSetup: 'test/support/global-setup.ts',
      maxWorkers: shared.maxWorkers,
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          // Each file in a process of its own: these tests kill, fork and change the environment.
          test: {
            ...shared,
            name: 'alone',
            include: ['test/**/*.test.ts'],
            exclude: [...exclude, ...together],
          },
        },
        {
          // Many files in one process: the modules are loaded, compiled and warm once, not once per file.
          test: { ...shared, name: 'together', include: together, exclude, isolate: false },
        },
      ],
    },
  };
}
