// Run by npm after an install, by whichever Node runs npm: builds the pages if their sources and the packages for it are there.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const at = (name) => new URL(`../${name}`, import.meta.url).pathname;
const needed = ['web/build.ts', 'docs/openapi.json', 'node_modules/vite', 'node_modules/node/bin/node'];
if (needed.every((name) => existsSync(at(name)))) {
  const { status } = spawnSync(at('node_modules/node/bin/node'), [at('web/build.ts')], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
