import { storeFacts } from '../../../domain/governance/eol/eol.facts.ts';
import type { CycleFacts } from '../../../domain/governance/eol/eol.model.ts';
import { command } from '../../../domain/kernel/command.ts';
import { answered, ok, openApp, pluck } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const url = '/api/v1/reports/eol';
const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

const cycle = (name: string, facts: Partial<CycleFacts>): CycleFacts => ({
  cycle: name,
  codename: null,
  release_date: null,
  support_until: null,
  is_supported: null,
  eol_from: null,
  is_eol: null,
  lts_from: null,
  is_lts: null,
  discontinued_from: null,
  is_discontinued: null,
  latest: null,
  latest_release_date: null,
  link: null,
  ...facts,
});

const { t, viewer } = await openApp(['viewer']);
await command(await t.ctx(), async ({ sql, raise }) => {
  const cycles = [
    cycle('past', { eol_from: day(-10), support_until: day(-100), release_date: '2020-02-03' }),
    cycle('today', { eol_from: day(0) }),
    cycle('soon', { eol_from: day(100) }),
    cycle('late', { eol_from: day(1000) }),
    cycle('over', { is_eol: true }),
    cycle('open', { is_eol: false, is_supported: true }),
    cycle('silent', {}),
  ];
  const facts = { name: 'thing', label: 'Thing', category: null, aliases: [], link: null, cycles };
  await storeFacts(sql, [{ facts }], 'file');
  raise('eol');
});
const linked = (eol_cycle: string, more: object = {}) => ({
  attributes: { eol_product: 'thing', eol_cycle, costTotalAnnual: 5 },
  ...more,
});
const id = await storeInventory(
  t,
  {
    ITComponent: {
      past: linked('past'),
      today: linked('today'),
      soon: linked('soon'),
      late: linked('late'),
      over: linked('over'),
      open: linked('open', { lifecycle: { endOfLife: day(-5) } }),
      silent: linked('silent'),
      'unheard of': linked('unheard of', { lifecycle: { endOfLife: day(-3) } }),
      archived: linked('past', { status: 'ARCHIVED' }),
      leaving: { lifecycle: { phaseOut: day(-1), endOfLife: day(900) } },
      young: { lifecycle: { active: day(-1) } },
    },
    Application: {
      ended: { lifecycle: { endOfLife: day(-1) } },
      one: {},
      two: {},
      gone: { status: 'ARCHIVED' },
    },
    BusinessProcess: { process: { lifecycle: { endOfLife: day(-1) } } },
  },
  [
    ['relAppToITC', 'one', 'past'],
    ['relAppToITC', 'two', 'past'],
    ['relAppToITC', 'gone', 'past'],
    ['relAppToITC', 'one', 'over'],
    ['relAppToITC', 'two', 'soon'],
    ['relAppToITC', 'one', 'leaving'],
    ['relAppToITC', 'two', 'late'],
  ],
);

type Item = { name: string; status: string; source: string; affected_apps: { name: string }[] };

it('tells what ends, by which source, and who depends on it', async () => {
  const { body } = await viewer.get(url);
  const told = body.items.map(({ name, status, source, affected_apps }: Item) => [
    name,
    status,
    source,
    affected_apps.map((app) => app.name).join(),
  ]);
  expect(told).toEqual([
    ['past', 'eol', 'api', 'one,two'],
    ['unheard of', 'eol', 'manual', ''],
    ['ended', 'eol', 'manual', ''],
    ['today', 'eol', 'api', ''],
    ['soon', 'approaching', 'api', 'two'],
    ['leaving', 'approaching', 'manual', 'one'],
    ['late', 'supported', 'api', 'two'],
    ['open', 'supported', 'api', ''],
    ['over', 'eol', 'api', 'one'],
    ['silent', 'unknown', 'api', ''],
  ]);
  expect(body.summary).toEqual({
    eol: 5,
    approaching: 2,
    supported: 2,
    unknown: 1,
    impacted_apps: 2,
    approaching_impacted_apps: 2,
    manual: 3,
  });
  expect(body.items[0]).toEqual({
    id: id.past,
    name: 'past',
    type: 'ITComponent',
    subtype: null,
    eol_product: 'thing',
    eol_label: 'Thing',
    eol_cycle: 'past',
    status: 'eol',
    source: 'api',
    ends_on: day(-10),
    days_left: -10,
    cycle_data: { releaseDate: '2020-02-03', support: day(-100), eol: day(-10) },
    lifecycle: null,
    affected_app_count: 2,
    affected_apps: [
      { id: id.one, name: 'one' },
      { id: id.two, name: 'two' },
    ],
  });
});

it('looks as many days ahead as it is asked to, at the cards and statuses that are asked for', async () => {
  const names = async (query: string) => pluck((await ok(viewer.get(`${url}?${query}`))).items, 'name');
  expect(await names('days=99&status=approaching')).toEqual(['leaving']);
  expect(await names('days=100&status=approaching')).toEqual(['soon', 'leaving']);
  expect(await names('days=1000&status=approaching,unknown')).toEqual(['soon', 'leaving', 'late', 'silent']);
  expect(await names(`filter=${encodeURIComponent('type = Application')}`)).toEqual(['ended']);
  for (const query of ['days=-1', 'days=x', 'status=old', 'status=', 'more=1'])
    expect((await viewer.get(`${url}?${query}`)).status, query).toBe(422);
});

it('tells of no relations to those who may not see them, and of no costs to anybody', async () => {
  const { body, text } = await (await t.holding('inventory.view', 'reports.ea_dashboard')).get(url);
  expect(body.items.flatMap(({ affected_apps }: Item) => affected_apps)).toEqual([]);
  expect(body.summary).toMatchObject({ eol: 5, impacted_apps: 0 });
  expect(text).not.toContain('costTotalAnnual');
});

it('gives the same numbers as tables, and shows new facts at once', async () => {
  const csv = await viewer.get(`${url}?table=summary`, { accept: 'text/csv' });
  expect(csv.text.trim().split('\r\n')).toEqual([
    'figure,value',
    'eol,5',
    'approaching,2',
    'supported,2',
    'unknown,1',
    'impacted_apps,2',
    'approaching_impacted_apps,2',
    'manual,3',
  ]);
  const picture = await answered(viewer.get(url, { accept: 'image/svg+xml' }));
  for (const text of [
    'Thing',
    'Ends by quarter',
    'Next ends',
    'Past the end and still used',
    '5 past the end',
  ])
    expect(picture.text).toContain(text);
  const apps = await viewer.get(`${url}?table=affected_apps`, { accept: 'text/csv' });
  expect(apps.text.trim().split('\r\n')).toHaveLength(1 + 6);
  const before = await viewer.get(url);
  const releases = [{ name: 'past', releaseDate: '2020-02-03', eolFrom: day(10) }];
  await ok((await t.as('admin')).post('/api/v1/eol/facts', { result: [{ name: 'thing', releases }] }));
  const after = await answered(viewer.get(url, { 'if-none-match': before.headers.etag! }));
  expect(after.body.items.find(({ name }: Item) => name === 'past').status).toBe('approaching');
  await ok(viewer.get(url, { 'if-none-match': after.headers.etag! }), 304);
});
