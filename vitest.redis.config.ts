import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { notInSuite, suite } from './test/support/suite.ts';

if (!process.env.REDIS_URL) {
  throw new Error(
    'REDIS_URL is missing: start a Redis of your own and run REDIS_URL=redis://127.0.0.1:6379 npm run test:redis.',
  );
}

/** The test files that touch queue, cache, feed, rate limits or jobs say so on their first line. */
const marker = '// @redis';
const others = globSync('test/**/*.test.ts', { cwd: import.meta.dirname, exclude: notInSuite }).filter(
  (file) => !readFileSync(path.join(import.meta.dirname, file), 'utf8').startsWith(`${marker}\n`),
);

export default defineConfig(suite(others));
