// @redis

import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';
import { readWorkbook, XLSX } from '../../support/workbook.ts';

const url = '/api/v1/reports/data-quality';

const { t, db, admin, viewer } = await openApp(['viewer', 'admin']);
const longAgo = '2020-01-01T00:00:00Z';
await storeInventory(
  t,
  {
    Application: {
      a: { data_quality: 80, lifecycle: { plan: '2026-01-01' } },
      '=b': { data_quality: 79.9, lifecycle: {}, parent: 'a' },
      c: { data_quality: 39.9, created_at: longAgo, updated_at: longAgo },
      d: { data_quality: 40, status: 'ARCHIVED' },
    },
    ITComponent: { e: { data_quality: 10 } },
    Provider: { f: { data_quality: 0 } },
  },
  [['relAppToITC', 'a', 'e']],
);

it('counts by hand', async () => {
  const { status, body, headers } = await viewer.get(`${url}?worst=2`);
  expect(status).toBe(200);
  expect(body).toEqual({
    overall_data_quality: 42,
    total_items: 5,
    unrated: 0,
    with_lifecycle: 1,
    orphaned: 2,
    stale: 1,
    by_type: [
      { type: 'Application', total: 3, complete: 1, partial: 1, minimal: 1, avg_data_quality: 66.6 },
      { type: 'ITComponent', total: 1, complete: 0, partial: 0, minimal: 1, avg_data_quality: 10 },
      { type: 'Provider', total: 1, complete: 0, partial: 0, minimal: 1, avg_data_quality: 0 },
    ],
    worst_items: [
      expect.objectContaining({ name: 'f', type: 'Provider', data_quality: 0 }),
      expect.objectContaining({ name: 'e', data_quality: 10 }),
    ],
    position: expect.stringMatching(/^[0-9]+$/),
  });
  expect(headers).toMatchObject({ vary: 'Accept, Accept-Encoding', 'cache-control': 'private, no-cache' });
});

it('is narrowed by a filter, whose faults are named with their place', async () => {
  const filter = encodeURIComponent('type = Application and data_quality < 80');
  const { body } = await viewer.get(`${url}?filter=${filter}`);
  expect([body.total_items, body.overall_data_quality, body.by_type.length]).toEqual([2, 59.9, 1]);
  const wrong = await viewer.get(`${url}?filter=${encodeURIComponent('type = ')}`);
  expect([wrong.status, wrong.body.errors[0].code]).toEqual([422, 'filter_syntax']);
  expect(wrong.body.position).toBeGreaterThan(0);
  const costs = encodeURIComponent('attributes.costTotalAnnual > 1');
  const nobody = await t.holding('inventory.view', 'reports.ea_dashboard');
  await expectProblem(nobody.get(`${url}?filter=${costs}`), 403);
});

it('shows a moment in the past, whatever was written since', async () => {
  const { body: once } = await admin.post('/api/v1/cards', { type: 'Provider', name: 'once' });
  const { rows } = await db.raw('select utc(max(at)) as at from events');
  const filter = encodeURIComponent('data_quality > -1');
  const numbers = async (query: string) => {
    return { ...(await ok(viewer.get(`${url}?worst=0${query}`))), position: undefined };
  };
  const before = await numbers('');
  await admin.patch(`/api/v1/cards/${once.id}`, {
    name: 'changed',
    description: 'since',
    lifecycle: { plan: '2026-01-01' },
  });
  const { body: since } = await admin.post('/api/v1/cards', { type: 'Application', name: 'since' });
  const { body: other } = await admin.post('/api/v1/cards', { type: 'ITComponent', name: 'other' });
  const ends = { source_id: since.id, target_id: other.id };
  const { body: relation } = await admin.post('/api/v1/relations', { type: 'relAppToITC', ...ends });
  await admin.patch(`/api/v1/relations/${relation.id}`, { description: 'since' });
  expect(await numbers('')).not.toEqual(before);
  expect(await numbers(`&as_of=${rows[0].at}`)).toEqual(before);
  expect(await numbers(`&as_of=${rows[0].at}&filter=${filter}`)).toEqual(before);
  for (const { id } of [since, other, once]) await admin.delete(`/api/v1/cards/${id}`);
  expect(await numbers(`&as_of=${rows[0].at}`)).toEqual(before);
});

it('gives the same numbers as CSV and as a workbook', async () => {
  const main = await viewer.get(url, { accept: 'text/csv' });
  expect(main.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(main.text).toBe(
    [
      'type,total,complete,partial,minimal,avg_data_quality',
      'Application,3,1,1,1,66.6',
      'ITComponent,1,0,0,1,10',
      'Provider,1,0,0,1,0',
      '',
    ].join('\r\n'),
  );
  const worst = await viewer.get(`${url}?table=worst_items`, { accept: 'text/csv' });
  expect(worst.text).toContain(",'=b,Application,79.9,");
  const workbook = await readWorkbook((await viewer.get(url, { accept: XLSX })).raw);
  expect(workbook.worksheets.map((sheet) => sheet.name)).toEqual(['by_type', 'worst_items', 'totals']);
  const row = workbook.getWorksheet('by_type')!.getRow(2).values;
  expect(row).toEqual([undefined, 'Application', 3, 1, 1, 1, 66.6]);
});

it('answers 304 for the format that the client holds, and 406 for others', async () => {
  const etag = (await viewer.get(url)).headers.etag!;
  await ok(viewer.get(url, { 'if-none-match': etag }), 304);
  const csv = await viewer.get(url, { 'if-none-match': etag, accept: 'text/csv' });
  expect([csv.status, csv.headers.etag === etag]).toEqual([200, false]);
  await ok(viewer.get(url, { 'if-none-match': csv.headers.etag!, accept: 'text/csv' }), 304);
  const refused = await viewer.get(url, { accept: 'application/msword' });
  expect([refused.status, refused.body.code, refused.body.offered.length]).toEqual([
    406,
    'not_acceptable',
    8,
  ]);
});

it('refuses unknown parameters and tables, and those without the permission', async () => {
  await expectProblem(viewer.get(`${url}?worst=-1`), 422);
  await expectProblem(viewer.get(`${url}?nothing=1`), 422);
  await expectProblem(viewer.get(`${url}?table=none`, { accept: 'text/csv' }), 422);
  await expectProblem(viewer.get(`${url}?table=by_type`), 422);
  await expectProblem((await t.holding()).get(url), 403, 'reports.ea_dashboard');
});

it('counts cards for whose quality nothing counts apart, not as the worst', async () => {
  const provider = '/api/v1/metamodel/types/Provider';
  const { fields_schema, section_config } = await ok(admin.get(provider));
  const nothing = { description: 0, lifecycle: 0, relations: 0, tags: 0, stakeholders: 0 };
  const changed = await admin.patch(provider, {
    fields_schema: fields_schema.map((section: { fields: object[] }) => ({
      ...section,
      fields: section.fields.map((field) => ({ ...field, weight: 0 })),
    })),
    section_config: { ...section_config, __dataQuality: nothing },
  });
  expect(changed.status).toBe(200);
  const body = await ok(viewer.get(url));
  expect([body.total_items, body.unrated]).toEqual([5, 1]);
  expect(body.by_type.map((one: { type: string }) => one.type)).toEqual(['Application', 'ITComponent']);
  expect(body.worst_items.map((one: { name: string }) => one.name)).not.toContain('f');
  const chart = await ok(viewer.get(url, { accept: 'application/vnd.estate.chart+json' }));
  expect(JSON.stringify(chart)).toContain('nothing counts for 1 card');
});
