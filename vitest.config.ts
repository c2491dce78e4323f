import { defineConfig } from 'vitest/config';
import { processTests, redisTests, suite } from './test/support/suite.ts';

export default defineConfig(suite([redisTests, ...processTests]));
