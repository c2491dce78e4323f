import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** Makes requests at random in a process of the test runner. @returns whether all was well. */
export async function makeRequests(requests: number, seed: number): Promise<boolean> {
  console.log(`# ${requests} requests at random, seed ${seed}`);
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.random.config.ts'],
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, RANDOM_REQUESTS: String(requests), RANDOM_SEED: String(seed) },
    },
  );
  const [code] = await once(child, 'exit');
  return code === 0;
}
