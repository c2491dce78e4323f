import { afterAll, beforeAll, expect, it } from 'vitest';
import { command } from '../../../domain/command.ts';
import { readKpiSeries } from '../../../reports/kpis/kpis.series.ts';
import { KPI_TOPIC } from '../../../reports/kpis/kpis.snapshots.ts';
import { createTestApp, type TestApp, type TestClient } from '../../support/harness.ts';

const SVG = { accept: 'image/svg+xml' };
const DAY = 86_400_000;

let t: TestApp;
let viewer: TestClient;
beforeAll(async () => {
  t = await createTestApp();
  viewer = await t.as('viewer');
});
afterAll(() => t.close());

const metrics = (cards: number) =>
  JSON.stringify({
    total_cards: cards,
    by_type: {},
    avg_data_quality: 50,
    approval_statuses: { APPROVED: 1 },
    data_quality_distribution: {},
    lifecycle_distribution: {},
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
  const ctx = await t.ctx();
  const { points } = await readKpiSeries(ctx, undefined, undefined);
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
  expect(headers.vary).toBe('Accept');
  const [line] = /<path d="([^"]*)" fill="none"[^>]*stroke="#0067a5"/.exec(text)!.slice(1);
  expect(line!.match(/M/g)).toHaveLength(2);
  const part = await viewer.get(
    '/api/v1/reports/kpis?from=2020-01-02T00:00:00Z&to=2020-01-04T00:00:00Z',
    SVG,
  );
  expect(part.text).not.toBe(text);
  const refused = await viewer.get('/api/v1/reports/kpis', { accept: 'text/csv' });
  expect([refused.status, refused.body.code]).toEqual([406, 'not_acceptable']);
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
  const { db } = t.services;
  const { rows } = await db.raw(
    `insert into cards (type, name) select 'Application', 'App ' || n from generate_series(1, 200) n
     returning id, name`,
  );
  const id = (n: number) => rows.find(({ name }: { name: string }) => name === `App ${n}`).id as string;
  await db('relations').insert(
    [2, 3, 4].map((n) => ({ type: 'relAppSuccessor', source_id: id(1), target_id: id(n) })),
  );
  await db.raw(`update topic_versions set version = version + 1`);
  const whole = await viewer.get('/api/v1/reports/dependencies', SVG);
  expect(whole.status, whole.text).toBe(200);
  expect(whole.text).toContain('80 of 200 nodes joined by 3 lines');
  expect(whole.text).toContain('The first 80 of 200 are drawn');
  expect(whole.text).toContain('App 1<');
  const around = await viewer.get(`/api/v1/reports/dependencies?center_id=${id(2)}&depth=1`, SVG);
  expect(around.text).toContain('2 of 2 nodes joined by 1 lines');
  expect(around.text).toContain('around App 2');
});
