import { loadDemo } from '../../../domain/app/demo/demo.load.ts';
import { reportCatalogue } from '../../../reports/reports.catalogue.ts';
import { expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);
await loadDemo(await t.ctx(), '2026-01-15');

const paged = reportCatalogue.filter(({ isPaged }) => isPaged);
const pathOf = ({ name, module }: (typeof paged)[number]) =>
  `/api/v1/reports/${module ? name.replace(`${module}-`, `${module}/`) : name}`;

/** Variants with other orders of rows. */
const variants = [
  ...paged.map((report) => pathOf(report)),
  '/api/v1/reports/cost-treemap?group_by=BusinessCapability',
  '/api/v1/reports/ppm/gantt?group_by=Organization',
  `/api/v1/reports/roadmap?filter=${encodeURIComponent('name ~ "a"')}`,
  '/api/v1/reports/eol?days=1000',
];
const query = (url: string, more: string) => `${url}${url.includes('?') ? '&' : '?'}${more}`;

/** Members of a response that describe its range, not its rows. */
const rangeMembers = ['next_cursor', 'row_count', 'position'];

/** All members of the arrays in a response that are themselves objects, with the path to them, as sorted texts. */
function leaves(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => leaves(item, `${path}[${item?.id ?? ''}]`));
  if (value === null || typeof value !== 'object') return [`${path} ${value}`];
  return Object.entries(value)
    .filter(([name]) => path !== '' || !rangeMembers.includes(name))
    .flatMap(([name, member]) => leaves(member, `${path}.${name}`));
}

it.each(variants)('the pages of %s have together what it has at once', async (url) => {
  const whole = await ok(admin.get(url));
  expect(whole.next_cursor).toBeNull();
  // the demonstration landscape has no elements linked to applications
  if (!url.endsWith('element-application-map')) expect(whole.row_count).toBeGreaterThan(0);
  const seen = new Set<string>();
  let pages = 0;
  const size = Math.max(1, Math.ceil(whole.row_count / 3));
  for (let cursor = ''; cursor !== null; pages += 1) {
    const page = await ok(admin.get(query(url, `page_size=${size}&cursor=${cursor}`)));
    expect(page.row_count).toBe(whole.row_count);
    for (const leaf of leaves(page)) seen.add(leaf);
    cursor = page.next_cursor;
  }
  expect(pages).toBe(Math.max(1, Math.ceil(whole.row_count / size)));
  expect([...seen].sort()).toEqual([...new Set(leaves(whole))].sort());
});

it.each(variants)('%s without rows has the same totals and groups', async (url) => {
  const whole = await ok(admin.get(url));
  const { next_cursor, position: _, ...rest } = await ok(admin.get(query(url, 'detail=aggregate')));
  expect(next_cursor).toBeNull();
  for (const [name, value] of Object.entries(rest)) {
    if (typeof value === 'number' || /_counts$|^summary$/.test(name))
      expect(value, name).toEqual(whole[name]);
  }
  const groups = (body: typeof whole) =>
    (body.groups ?? []).map(({ items: _items, ...group }: Record<string, unknown>) => group);
  expect(groups(rest)).toEqual(groups(whole));
});

it('files contain all rows', async () => {
  const url = '/api/v1/reports/portfolio';
  const first = await admin.get(`${url}?page_size=2`);
  const csv = await admin.get(`${url}?page_size=2`, { accept: 'text/csv' });
  expect(first.body.items).toHaveLength(2);
  expect(csv.text.trim().split('\r\n')).toHaveLength(first.body.row_count + 1);
});

it('a cursor belongs to its report, parameters, filter and time', async () => {
  const url = '/api/v1/reports/portfolio';
  const { next_cursor: cursor } = await ok(admin.get(`${url}?page_size=2`));
  await ok(admin.get(`${url}?page_size=3&cursor=${cursor}`));
  for (const other of [
    '/api/v1/reports/cost?type=ITComponent',
    `${url}?filter=${encodeURIComponent('name = a')}`,
    `${url}?as_of=${new Date(Date.now() - 1).toISOString()}`,
    '/api/v1/reports/roadmap?type=Application',
  ]) {
    await expectProblem(admin.get(query(other, `cursor=${cursor}`)), 422, 'cursor_mismatch', 'cursor');
  }
  await expectInvalid(admin.get(`${url}?cursor=nothing`), 'cursor');
  const [bound] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  for (const keys of [[], ['x'], ['00000000-0000-0000-0000-000000000000', 'x'], ['\u0000']]) {
    const forged = Buffer.from(JSON.stringify([bound, ...keys])).toString('base64url');
    await expectInvalid(admin.get(`${url}?page_size=2&cursor=${forged}`), 'cursor');
  }
  for (const wrong of ['page_size=0', 'page_size=5001', 'detail=all']) {
    await expectInvalid(admin.get(`${url}?${wrong}`), wrong.split('=')[0]!);
  }
  const csv = { accept: 'text/csv' };
  await expectInvalid(admin.get(`${url}?cursor=${cursor}`, csv), 'cursor');
  await expectInvalid(admin.get(`${url}?detail=aggregate`, csv), 'detail');
});
