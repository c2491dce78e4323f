import { globSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { suite } from './test/support/suite.ts';

/** They need the built pages and a Chromium. */
const others = globSync('test/**/*.test.ts', { cwd: import.meta.dirname, exclude: ['test/web/**'] });

export default defineConfig(suite(others));
