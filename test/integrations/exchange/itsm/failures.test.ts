import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { advice } from '../../../../integrations/exchange/itsm/remote.ts';
import { faults } from '../../../emulators/servicenow/faults.ts';
import { documentedFaults, failsWith, nameInDocs } from '../../../soak/itsm/failures.ts';
import { runRemoteScenarios } from '../../../soak/itsm/remotes.ts';
import { combinations, faultsOf, nameOf, scenarios } from '../../../soak/itsm/scenarios.ts';
import { closeAfterAll, createTestApp } from '../../../support/harness.ts';
import { openSyncTest } from '../../../support/itsm.ts';

const guide = readFileSync(
  path.resolve(import.meta.dirname, '../../../../docs/integrations/itsm.md'),
  'utf8',
);

test('the guide has a row for each error code, with the advice of the error', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
  expect(rows).toEqual(Object.entries(advice));
});

test('the guide has a row for each fault of a remote, with the error of runs while it lasts', () => {
  const rows = documentedFaults(guide).map(({ name, codes }) => ({ name, codes }));
  expect(rows).toEqual(faults.map((fault) => ({ name: nameInDocs(fault), codes: failsWith(fault) })));
});

test('500 generated scenarios contain every fault and every pair of faults several times', () => {
  const all = scenarios(randomInt(2 ** 31), 500, 25).map((scenario) => nameOf(faultsOf(scenario)));
  const counts = combinations.map((one) => all.filter((name) => name === one).length);
  expect(combinations).toHaveLength(15 + (15 * 14) / 2);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
});

// `npm run soak -- --itsm --seed S` executes many more of them
const seed = Number(process.env.ITSM_SEED ?? 2611);

const t = closeAfterAll(await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
/** Retries wait in virtual time, but query the database each time, so that some faults take long. */

it.each(['itop', 'netbox'] as const)(
  `both sides converge after faults of %s (seed ${seed})`,
  { timeout: 240_000 },
  async (kind) => expect((await runRemoteScenarios(t, kind, { seed, scenarios: 2 })).size).toBeGreaterThan(0),
);

/** The number of files that a pull executes between route and remote. Lower it when files are merged. */
const MOST = 34;

const root = path.resolve(import.meta.dirname, '../../../..');
// the worker looks for due runs beside the pull
const isOfArea = (file: string) =>
  /^(integrations|domain)\/exchange\/itsm\//.test(file) && !file.endsWith('/runs.due.ts');

const { instance, connect, storeMapping, runMapping } = await openSyncTest();
it(`a pull loads at most ${MOST} files of the synchronisation`, async () => {
  instance.elsewhere.insert('cmdb_ci_appl', { name: 'Shop' });
  const mapping = await storeMapping({
    connectionId: await connect(),
    cardType: 'Application',
    table: 'cmdb_ci_appl',
    direction: 'pull',
  });
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const run = await runMapping(mapping, 'pull');
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  expect(run.stats).toMatchObject({ created: 1, errors: 0 });
  const executed = result
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0),
    )
    .flatMap(({ url }) => (url.startsWith('file:') ? path.relative(root, fileURLToPath(url)) : []))
    .filter(isOfArea)
    .sort();
  expect(executed.length, executed.join('\n')).toBeLessThanOrEqual(MOST);
});
