import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { openSyncTest } from '../../../support/itsm.ts';

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
