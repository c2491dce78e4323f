import path from 'node:path';
import type { ViteUserConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

/** How a process begins, ends and listens is tried here: each file needs one that nothing else was done to. */
const alone = ['test/platform/**/*.test.ts'];

/** Parts that are begun by commands of their own. */
export const notInSuite = ['test/bench/**', 'test/soak/**', 'test/random/**'];

/** How the suite runs. @param skip patterns of files to leave out. */
export function suite(skip: string[] = []): ViteUserConfig {
  // meant for two cores: of three files one often waits, for a lease to pass or a process that it started
  const maxWorkers = 3;
  const shared = {
    pool: 'forks',
    maxWorkers,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // processes that tests start load the same modules again and again: Node keeps them compiled here
    env: { NODE_COMPILE_CACHE: path.resolve(import.meta.dirname, '../../node_modules/.cache/compiled') },
  } as const;
  const exclude = [...notInSuite, ...skip];
  return {
    test: {
      globalSetup: 'test/support/global-setup.ts',
      maxWorkers,
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          test: { ...shared, name: 'alone', include: alone, exclude },
        },
        {
          // Many files in one process: the modules are loaded, compiled and warm once, not once per file.
          test: {
            ...shared,
            name: 'together',
            include: ['test/**/*.test.ts'],
            exclude: [...exclude, ...alone],
            isolate: false,
          },
        },
      ],
    },
  };
}
