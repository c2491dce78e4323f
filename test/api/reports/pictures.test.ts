import { command } from '../../../domain/kernel/command.ts';
import { readKpiSeries } from '../../../reports/inventory/kpis/kpis.series.ts';
import { KPI_TOPIC } from '../../../reports/inventory/kpis/kpis.snapshots.ts';
import { answered, expectProblem, openApp } from '../../support/harness.ts';
import { XLSX } from '../../support/workbook.ts';

const SVG = { accept: 'image/svg+xml' };
const DAY = 86_400_000;

const { t, db, viewer } = await openApp(['viewer']);

const metrics = (cards: number) =>
  JSON.stringify({
    total_cards: cards,
    by_type: {},
    avg_data_quality: 50,
    approval_statuses: { APPROVED: 1 },
    data_quality_distribution: { '0-25': 0, '25-50': 0, '50-75': cards, '75-100': 0 },
    lifecycle_distribution: { plan: 0, phaseIn: 0, active: 1, phaseOut: 0, endOfLife: 0, none: cards - 1 },
  });

/** Stores a snapshot for each of the days, counted from the beginning of 2020. */
async function snapshots(days: number[]): Promise<void> {
  const start = Date.UTC(2020, 0, 1);
  await command(await t.ctx(), async ({ sql, raise }) => {
    await sql('kpi_snapshots').insert(
      days.map((day) => ({ slot: new Date(start + day * DAY), position: 1, metrics: metrics(100 + day) })),
    );
    raise(KPI_TOPIC);
  });
}

it('draws the key figures over time, with gaps where nothing was stored', async () => {
  const empty = await viewer.get('/api/v1/reports/kpis', SVG);
  expect([empty.status, empty.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
  await snapshots([0, 1, 2, 3, 6, 7, 8]);
  const { points } = await readKpiSeries(await t.ctx(), undefined, undefined);
  expect(points.map(({ at, figures }) => [at.slice(0, 13), figures?.total_cards ?? null])).toEqual([
    ['2020-01-01T00', 100],
    ['2020-01-02T00', 101],
    ['2020-01-03T00', 102],
    ['2020-01-04T00', 103],
    ['2020-01-05T12', null],
    ['2020-01-07T00', 106],
    ['2020-01-08T00', 107],
    ['2020-01-09T00', 108],
  ]);
  const { text, headers } = await viewer.get('/api/v1/reports/kpis', SVG);
  expect(headers.vary).toBe('Accept, Accept-Language');
  const german = await viewer.get('/api/v1/reports/kpis', { ...SVG, 'accept-language': 'de-AT, en;q=0.5' });
  expect(german.headers['content-language']).toBe('de');
  expect(german.text).toContain('Kennzahlen im Zeitverlauf');
  expect((await viewer.get('/api/v1/reports/kpis', { ...SVG, 'accept-language': 'en' })).text).toBe(text);
  const [line] = /<path d="([^"]*)" fill="none" stroke="#3557b8" stroke-width="2"/.exec(text)!.slice(1);
  expect(line!.match(/M/g)).toHaveLength(2);
  const part = await viewer.get(
    '/api/v1/reports/kpis?from=2020-01-02T00:00:00Z&to=2020-01-04T00:00:00Z',
    SVG,
  );
  expect(part.text).not.toBe(text);
});

it('tells the key figures of every day, week, month or year, those without a snapshot as gaps', async () => {
  const path = '/api/v1/reports/kpis?sort_dir=asc';
  const days = await viewer.get(`${path}&every=day`);
  const cardsOf = (items: { slot: string; metrics: { total_cards: number } | null }[]) =>
    items.map(({ slot, metrics: kept }) => [slot.slice(0, 10), kept?.total_cards ?? null]);
  expect(cardsOf(days.body.items)).toEqual([
    ...[0, 1, 2, 3].map((day) => [`2020-01-0${day + 1}`, 100 + day]),
    ['2020-01-05', null],
    ['2020-01-06', null],
    ...[6, 7, 8].map((day) => [`2020-01-0${day + 1}`, 100 + day]),
  ]);
  const item = days.body.items[4];
  expect(item).toEqual({ slot: '2020-01-05T00:00:00.000Z', position: null, metrics: null, taken_at: null });
  // weeks begin on Mondays: the first of January 2020 was a Wednesday
  expect(cardsOf((await viewer.get(`${path}&every=week`)).body.items)).toEqual([
    ['2019-12-30', 103],
    ['2020-01-06', 108],
  ]);
  for (const every of ['month', 'year'])
    expect(cardsOf((await viewer.get(`${path}&every=${every}`)).body.items)).toEqual([['2020-01-01', 108]]);
  const page = await viewer.get(`${path}&every=day&page=2&page_size=4`);
  expect([page.body.total, cardsOf(page.body.items)[0]]).toEqual([9, ['2020-01-05', null]]);
  const walk = await viewer.get(`${path}&every=day&page_size=4&cursor=`);
  const cursor = encodeURIComponent(walk.body.next_cursor);
  const next = await viewer.get(`${path}&every=day&page_size=4&cursor=${cursor}`);
  expect(cardsOf(next.body.items)).toEqual(cardsOf(page.body.items));
  await expectProblem(
    viewer.get(`${path}&every=week&page_size=4&cursor=${cursor}`),
    422,
    'cursor_mismatch',
    'cursor',
  );
  expect((await viewer.get(`${path}&every=hour`)).body.errors).toEqual([
    { field: 'every', code: 'enum', message: 'must be one of "day", "week", "month", "year"' },
  ]);
});

it('gives the key figures as a table, with a column for each part of them', async () => {
  const path = '/api/v1/reports/kpis?from=2020-01-04T00:00:00Z&to=2020-01-08T00:00:00Z';
  const { status, text, headers } = await viewer.get(`${path}&every=day`, { accept: 'text/csv' });
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers['content-disposition']).toBe('attachment; filename="kpis.csv"');
  const [header, ...rows] = text.trimEnd().split('\r\n');
  const columns = header!.split(',');
  expect(columns.slice(0, 6)).toEqual([
    ...['slot', 'taken_at', 'position', 'total_cards', 'avg_data_quality'],
    'approval_statuses.APPROVED',
  ]);
  expect(columns).toHaveLength(6 + 4 + 6);
  const none = columns.indexOf('lifecycle_distribution.none');
  expect(rows.map((row) => [row.slice(0, 10), ...row.split(',').slice(2, 6), row.split(',')[none]])).toEqual([
    ['2020-01-04', '1', '103', '50', '1', '102'],
    ['2020-01-05', '', '', '', '', ''],
    ['2020-01-06', '', '', '', '', ''],
    ['2020-01-07', '1', '106', '50', '1', '105'],
  ]);
  expect((await viewer.get(path, { accept: 'text/csv' })).text.split('\r\n')).toHaveLength(4);
  const empty = await viewer.get('/api/v1/reports/kpis?from=2050-01-01T00:00:00Z', { accept: 'text/csv' });
  expect(empty.text).toBe('slot,taken_at,position,total_cards,avg_data_quality\r\n');
  const workbook = await viewer.get(path, { accept: XLSX });
  expect([workbook.status, workbook.text.slice(0, 2)]).toEqual([200, 'PK']);
});

it('thins a long series out evenly, and keeps its ends and its gaps', async () => {
  // ten years of days, but for half of the third
  await snapshots(
    Array.from({ length: 3_650 }, (_, day) => day + 10).filter((day) => day < 800 || day > 980),
  );
  const { points, total } = await readKpiSeries(await t.ctx(), '2020-01-11T00:00:00Z', undefined);
  expect(total).toBe(3_650 - 181);
  expect(points.length).toBeLessThan(403);
  expect(points.length).toBeGreaterThan(370);
  expect(points.filter(({ figures }) => figures === null)).toHaveLength(1);
  expect(points.at(-1)!.figures!.total_cards).toBe(100 + 3_659);
  expect((await viewer.get('/api/v1/reports/kpis', SVG)).text).toContain('th snapshot');
});

it('draws the cards around one, nearest first, and of the whole graph the most related', async () => {
  const { rows } = await db.raw(`
     insert into cards (type, name) select 'Application', 'App ' || n from generate_series(1, 200) n
     returning id, name`);
  const id = (n: number) => rows.find(({ name }: { name: string }) => name === `App ${n}`).id as string;
  await db('relations').insert(
    [2, 3, 4].map((n) => ({ type: 'relAppSuccessor', source_id: id(1), target_id: id(n) })),
  );
  await db.raw(`update topic_versions set version = version + 1`);
  const whole = await answered(viewer.get('/api/v1/reports/dependencies', SVG));
  expect(whole.text).toContain('80 cards in 1 layer, joined by 3 relations.');
  expect(whole.text).toContain('The 80 most related of 200');
  expect(whole.text).toContain('80 × Application');
  expect(whole.text).toContain('App 1<');
  const around = await viewer.get(`/api/v1/reports/dependencies?center_id=${id(2)}&depth=1`, SVG);
  expect(around.text).toContain('2 cards in 1 layer, joined by 1 relation.');
  expect(around.text).toContain('around App 2');
});

it('draws in the theme, width and format that are asked for', async () => {
  const path = '/api/v1/reports/data-quality';
  const light = await answered(viewer.get(path, SVG));
  expect(light.text).toContain('width="1200"');
  const dark = await answered(viewer.get(`${path}?theme=dark&width=600`, SVG));
  expect(dark.text).toContain('fill="#17181b"');
  expect(dark.text).toContain('width="600"');
  expect(dark.headers.etag).not.toBe(light.headers.etag);
  const png = await answered(viewer.get(`${path}?width=500`, { accept: 'image/png' }));
  expect(png.headers['content-type']).toBe('image/png');
  expect(png.headers['content-disposition']).toBe('inline; filename="data-quality.png"');
  expect([png.raw.toString('latin1', 1, 4), png.raw.readUInt32BE(16)]).toEqual(['PNG', 1_000]);
  const known = { accept: 'image/png', 'if-none-match': png.headers.etag! };
  expect((await viewer.get(`${path}?width=500`, known)).status).toBe(304);
  for (const [query, field] of [
    ['width=100', 'width'],
    ['width=99999', 'width'],
    ['theme=blue', 'theme'],
  ] as const)
    await expectProblem(viewer.get(`${path}?${query}`, SVG), 422, undefined, field);
  await expectProblem(viewer.get(`${path}?theme=dark`), 422, 'validation_failed', 'theme');
  expect(
    (await answered(viewer.get('/api/v1/reports/kpis?width=400', { accept: 'image/png' }))).raw.readUInt32BE(
      16,
    ),
  ).toBe(800);
  const asked = await viewer.post(
    '/api/v1/reports/query?theme=dark&width=700',
    { from: ['Application'] },
    SVG,
  );
  expect([asked.status, asked.text.includes('width="700"')]).toEqual([200, true]);
});

it('returns the data of a picture, from which browsers draw it', async () => {
  const CHART = { accept: 'application/vnd.estate.chart+json' };
  const admin = await t.as('admin');
  const body = { type: 'Application', name: 'Ledger', lifecycle: { active: '2020-01-01' } };
  const { id } = (await answered(admin.post('/api/v1/cards', body), 201)).body;
  const { status, headers, text } = await viewer.get('/api/v1/reports/roadmap?type=Application', CHART);
  expect([status, headers['content-type']]).toEqual([200, `${CHART.accept}; charset=utf-8`]);
  const chart = JSON.parse(text);
  expect(chart.kind).toBe('roadmap');
  expect(chart.items).toMatchObject([{ id, name: 'Ledger', dates: [null, null, '2020-01-01', null, null] }]);
  const kpis = await viewer.get('/api/v1/reports/kpis', CHART);
  expect(JSON.parse(kpis.text).kind).toBe('panels');
  const query = { from: ['Application'], dimensions: [{ field: 'phase' }], measures: [{ fn: 'count' }] };
  const counted = await viewer.post('/api/v1/reports/query', query, CHART);
  expect(JSON.parse(counted.text).kind).toBe('bars');
});
