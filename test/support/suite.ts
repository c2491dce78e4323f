import type { ViteUserConfig } from 'vitest/config';
import { compileCache } from './compiled.ts';
import { LongestFirst } from './longest-first.ts';

/** How a process begins, ends and listens is tried here: each file needs one that nothing else was done to. */
const alone = [
  'connection-loss',
  'embedded-postgres*',
  'lifecycle',
  'queue',
  'startup',
  'worker-threads',
].map((name) => `test/platform/${name}.test.ts`);

/** Parts that are begun by commands of their own. */
export const notInSuite = ['test/bench/**', 'test/soak/**', 'test/random/**'];

/** Pages in a browser: `npm run test:web`. */
export const webTests = 'test/web/**';

/** They need a Redis of their own. */
export const redisTests = 'test/**/*.redis.test.ts';

/**
 * Processes are started, killed and frozen, disks are filled, remotes fail in every way, and limits of time and size are
 * reached: these mostly wait. Random sequences of writes, every permission and scope alone on every operation, whole workspaces
 * and whole synchronisations take long. `npm run test:processes` runs them, with the tests of programs that only development uses.
 */
export const processTests = [
  'test/access/{own-card,scopes,single}.test.ts',
  'test/api/itsm/*.test.ts',
  'test/domain/app/workspace/*.test.ts',
  'test/integrations/analysis/matching/{classes,kinds}.test.ts',
  'test/integrations/exchange/itsm/{failures,histories,histories.stored,relations.gone}.test.ts',
  'test/checks/{bench-harness,bench-landscape,contributing,openapi*}.test.ts',
  'test/api/{events/stream.bounds,mcp/mcp}.test.ts',
  'test/api/requests/{bodies,protocol,uploads}.test.ts',
  'test/**/*.{property,fuzz,replay}.test.ts',
  'test/api/metamodel/consumers.random.test.ts',
  'test/domain/exchange/imports/{dry-run,round-trip.bytes,workbook,workbook.libreoffice}.test.ts',
  'test/integrations/analysis/matching/parts-of-lists.test.ts',
  'test/integrations/collaboration/mail/mail.test.ts',
  'test/integrations/exchange/storage/sftp.sshd.test.ts',
  'test/reports/kernel/rendering/rendering.test.ts',
  'test/{processes,resilience}/**/*.test.ts',
  'test/**/*.{kill,kills,killed}.test.ts',
  'test/docs/examples.test.ts',
  'test/clients/*.test.ts',
  'test/integrations/exchange/itsm/{connectors,runs}.faults.test.ts',
  'test/platform/{embedded-postgres*,lifecycle,startup,warnings,worker-threads}.test.ts',
  'test/workers/{crashes,jobs.recovery,relay,runtime}.test.ts',
];

/**
 * Node loads tests and what they test as it loads the service, from the same compiled modules. The runner would transform them:
 * each use of an import would go through an object, and each process begin with waiting for the runner.
 */
const experimental = { viteModuleRunner: false, nodeLoader: false };

/** Most objects of tests die within milliseconds; a young generation of 32 to 64 MiB collects them less often than 1 to 16 MiB. */
const fewCollections = ['--min-semi-space-size=32', '--max-semi-space-size=64'];

/** How the suite runs. @param skip patterns of files to leave out. */
export function suite(skip: string[] = []): ViteUserConfig {
  // meant for two cores: of three files one often waits, for a lease to pass or a process that it started
  const maxWorkers = 3;
  const shared = {
    pool: 'forks',
    globals: true,
    maxWorkers,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    env: { NODE_COMPILE_CACHE: compileCache },
    setupFiles: 'test/support/seed.ts',
    experimental,
  } as const;
  const exclude = [...notInSuite, ...skip];
  return {
    test: {
      globalSetup: 'test/support/global-setup.ts',
      maxWorkers,
      experimental,
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
            execArgv: fewCollections,
          },
        },
      ],
    },
  };
}
