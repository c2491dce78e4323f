// @redis
import { populate } from '../emulators/servicenow/landscape.ts';
import { closeAfterAll, openApp } from '../support/harness.ts';
import { connectTo, settled, startInstance, storeMapping, syncBase } from '../support/itsm.ts';
import { killableWorkers, killWorker, survivingWorker } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const startWorker = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

// for the worker processes as well
vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const instance = closeAfterAll(await startInstance({ latency: { list: 300 } }));
populate(instance, { items: { cmdb_ci_business_app: 1_100 }, relations: 0 });

afterAll(() => vi.unstubAllEnvs());

it('a run whose worker is killed goes on with the page where it was', async () => {
  const mapping = await storeMapping(t, { connectionId: await connectTo(admin, instance) });
  const worker = await startWorker();
  const { id } = (await admin.post(`${syncBase}/sync/pull/${mapping}`)).body;
  await until('a page', async () => {
    return (await db('itsm_runs').where({ id }).first()).checkpoint?.fetched === 1_000;
  });
  await killWorker(t.services, worker);
  await goOn();
  const run = await settled(t, admin, id);
  expect(run).toMatchObject({ status: 'completed', stats: { fetched: 1_100, created: 1_100, errors: 0 } });
  const { rows } = await db.raw(`select count(*)::int as cards, count(distinct name)::int as names
      from cards where type = 'Application'`);
  expect(rows[0]).toEqual({ cards: 1_100, names: 1_100 });
  // the first page was asked for once
  const pages = instance.calls
    .filter(({ kind, table }) => kind === 'list' && table === 'cmdb_ci_business_app')
    .map(({ query }) => decodeURIComponent(query));
  expect(pages.filter((query) => !/sys_updated_on|sys_id[>I]/.test(query))).toHaveLength(1);
});
