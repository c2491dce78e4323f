import { spawnSync } from 'node:child_process';

/** Tests the pages: `npm run test:web`. With `--all` in every combination of role, language, look and landscape. */
const args = process.argv.slice(2);
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'vitest.web.config.ts', ...args.filter((arg) => arg !== '--all')],
  { stdio: 'inherit', env: { ...process.env, ...(args.includes('--all') && { WEB_TEST_ALL: '1' }) } },
);
process.exitCode = status ?? 1;
