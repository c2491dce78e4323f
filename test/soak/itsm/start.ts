import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');

/** Puts runs of the synchronisation under faults to the test in a process of the test runner. @returns whether all was well. */
export async function putToTheTest(count: number, seed: number): Promise<boolean> {
  console.log(`# synchronisation with ${count} runs under faults, seed ${seed}`);
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.itsm.config.ts', 'faults.test.ts'],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ITSM_RUNS: String(count), ITSM_SEED: String(seed) },
    },
  );
  const [code] = await once(child, 'exit');
  return code === 0;
}
