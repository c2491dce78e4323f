import { spawnSync } from 'node:child_process';

/** Tests the pages: `npm run test:web`. With `--all` every page in all combinations of role, language, look, width and landscape. */
const args = process.argv.slice(2);
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'vitest.web.config.ts', ...args.filter((arg) => arg !== '--all')],
  { stdio: 'inherit', env: { ...process.env, ...(args.includes('--all') && { WEB_TEST_ALL: '1' }) } },
);
process.exitCode = status ?? 1;
