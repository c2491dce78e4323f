import { serverCertificate } from '../../emulators/certificates.ts';
import { startLists } from '../../emulators/http-lists.ts';
import { closeAfterAll, pluck } from '../../support/harness.ts';
import { openSyncService, syncBase } from '../../support/itsm.ts';
import { untilStatus } from '../../support/jobs.ts';

const { t, db, admin, connectKind, map, runMapping } = await openSyncService();
const lists = closeAfterAll(await startLists({ tls: serverCertificate }));

interface Item {
  id: string;
  name?: string;
  description?: string;
  '@removed'?: object;
}

const activeNames = async (type: string) =>
  (await db('cards').where({ type, status: 'ACTIVE' }).orderBy('name').pluck('name')) as string[];

it('a list with delta links is read by them, removes what it reports as deleted, and is read whole after 410', async () => {
  let all: Item[] = Array.from({ length: 12 }, (_, at) => ({ id: `D${at}`, name: `Delta ${at}` }));
  let changes: Item[] = [];
  let version = 0;
  let isGone = false;
  lists.places.set('/graph/apps', (query) => {
    const token = query.get('$deltatoken');
    if (token !== null && isGone) return { status: 410, body: { error: { code: 'syncStateNotFound' } } };
    const rows = token === null ? all : changes;
    const from = Number(query.get('$skiptoken') ?? 0);
    const link = (parameter: string) => `${lists.base}/graph/apps?${parameter}`;
    return {
      body: {
        value: rows.slice(from, from + 5),
        ...(from + 5 < rows.length
          ? { '@odata.nextLink': link(`$skiptoken=${from + 5}${token === null ? '' : '&$deltatoken=x'}`) }
          : { '@odata.deltaLink': link(`$deltatoken=${version}`) }),
      },
    };
  });
  const source = {
    name: 'apps',
    path: 'apps',
    format: 'json',
    key: 'id',
    rows: 'value',
    paging: { by: 'link', next: '@odata.nextLink', is_stable: true },
    delta: { next: '@odata.deltaLink', removed: '@removed' },
  };
  const connection = await connectKind('http', `${lists.base}/graph`, { sources: [source] });
  const mapping = await map(connection, 'ITComponent', 'apps', { sync_direction: 'pull' });
  const pull = async () => {
    const { status, stats, complete } = await runMapping(mapping, 'pull');
    return [status, complete, stats.planned];
  };
  const tokenOf = async () =>
    (await db('itsm_sync_states').where({ mapping_id: mapping }).first()).delta_token;
  const requested = () => lists.requests.splice(0).map(({ query }) => String(query));

  expect(await pull()).toEqual(['completed', true, { create: 12 }]);
  expect(await tokenOf()).toContain('deltatoken=0');
  requested();
  version = 1;
  all = all.filter(({ id }) => id !== 'D2');
  all[1] = { id: 'D1', name: 'Delta one' };
  changes = [
    { id: 'D1', name: 'Delta one' },
    { id: 'D2', '@removed': { reason: 'deleted' } },
    { id: 'D3', '@removed': { reason: 'changed' } },
    { id: 'D12', name: 'Delta 12' },
    { id: 'D5', name: 'Delta 5' },
    // it was restored
    { id: 'D3', name: 'Delta 3' },
  ];
  expect(await pull()).toEqual(['completed', false, { create: 1, update: 1, quarantine: 1 }]);
  expect(requested()).toContain('%24deltatoken=0');
  expect(await tokenOf()).toContain('deltatoken=1');
  changes = [];
  expect(await pull()).toEqual(['completed', false, { delete: 1 }]);
  const names = await activeNames('ITComponent');
  expect(names).toContain('Delta one');
  expect(names).not.toContain('Delta 2');
  expect(names).toContain('Delta 3');

  expect(await pull()).toEqual(['completed', false, {}]);
  isGone = true;
  all.push({ id: 'D12', name: 'Delta 12' }, { id: 'D13', name: 'Delta 13' });
  version = 2;
  expect(await pull()).toEqual(['completed', true, { create: 1 }]);
  expect(await tokenOf()).toContain('deltatoken=2');
  isGone = false;
  expect(await pull()).toEqual(['completed', false, {}]);
  // another request has other rows: its token is not that of this one
  await admin.patch(`/api/v1/itsm-sync/connections/${connection}`, {
    sources: [{ ...source, path: 'apps?$select=id,name' }],
  });
  expect((await pull()).slice(0, 2)).toEqual(['completed', true]);
}, 60_000);

it('a GraphQL response with errors neither removes nor clears anything', async () => {
  const nodes = Array.from({ length: 8 }, (_, at) => ({
    id: `R${at}`,
    name: `Repository ${at}`,
    description: `text ${at}`,
  }));
  let errors: object[] | undefined;
  lists.places.set('/graphql', () => ({
    body: {
      data: {
        list: {
          nodes: errors ? nodes.slice(0, 3).map((node) => ({ ...node, description: null })) : nodes,
          pageInfo: { hasNextPage: false, endCursor: null },
        },
      },
      ...(errors ? { errors } : {}),
    },
  }));
  const connection = await connectKind('http', lists.base, {
    sources: [
      {
        name: 'repositories',
        path: 'graphql',
        format: 'json',
        key: 'id',
        rows: 'data.list.nodes',
        graphql: { query: 'query($after: String) { list(after: $after) { nodes { id } } }' },
        paging: { by: 'cursor', next: 'data.list.pageInfo.endCursor', parameter: 'after', is_stable: true },
      },
    ],
  });
  const mapping = await map(connection, 'Application', 'repositories', {
    sync_direction: 'pull',
    complete_reads: 1,
    fields: [{ card_field: 'description', remote_field: 'description' }],
  });
  expect(await runMapping(mapping, 'pull', '?complete=true')).toMatchObject({ status: 'completed' });
  const cards = () =>
    db('cards').where({ type: 'Application' }).orderBy('id').select('name', 'description', 'status');
  const before = await cards();
  expect(pluck(before, 'name')).toHaveLength(8);
  errors = [{ message: 'Something went wrong', path: ['list', 'nodes', 3] }];
  const started = await admin.post(`${syncBase}/sync/pull/${mapping}?complete=true`);
  const path = `${syncBase}/sync/runs/${started.body.id}`;
  await untilStatus(t.services, (await admin.get(path)).body.job_id, 'failed', 30_000);
  const { body: failed } = await admin.get(path);
  expect(failed).toMatchObject({ status: 'failed', error_code: 'refused' });
  expect(failed.error_message).toContain('Something went wrong');
  expect(await cards()).toEqual(before);
  errors = undefined;
  expect((await runMapping(mapping, 'pull', '?complete=true')).stats.planned).toEqual({});
}, 60_000);
