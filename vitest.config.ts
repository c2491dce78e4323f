import { defineConfig } from 'vitest/config';
import { processTests, redisTests, suite, webTests } from './test/support/suite.ts';

export default defineConfig(suite([redisTests, webTests, ...processTests]));
