import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');

/** Tests runs of the synchronisation under faults of the remote. @returns whether all was well. */
export async function testFaults(count: number, seed: number): Promise<boolean> {
  console.log(`# synchronisation with ${count} runs under faults, seed ${seed}`);
  return await runTests('faults.test.ts', { ITSM_RUNS: String(count), ITSM_SEED: String(seed) });
}

/** Kills workers so often in the midst of runs. @returns whether all was well. */
export async function killWorkers(count: number, seed: number): Promise<boolean> {
  console.log(`# synchronisation whose workers are killed ${count} times, seed ${seed}`);
  return await runTests('kills.test.ts', { ITSM_KILLS: String(count), ITSM_SEED: String(seed) });
}

/** In a process of the test runner. */
async function runTests(file: string, env: Record<string, string>): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.itsm.config.ts', file],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } },
  );
  const [code] = await once(child, 'exit');
  return code === 0;
}
