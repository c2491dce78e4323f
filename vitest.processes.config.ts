import { globSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { notInSuite, processTests, redisTests, suite } from './test/support/suite.ts';

const others = globSync('test/**/*.test.ts', {
  cwd: import.meta.dirname,
  exclude: [...notInSuite, ...processTests],
});

export default defineConfig(suite([...others, redisTests]));
