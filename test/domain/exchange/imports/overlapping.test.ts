// @redis

/** Upserts of one file that run at the same time, in many batches. */

import type { ImportOptions } from '../../../../domain/exchange/imports/imports.run.ts';
import { askImport, importResult, ndjson, openImports } from '../../../support/imports.ts';
import { smallImports } from '../../../workers/fixtures/small-imports.processors.ts';

const BATCH = 20;
const ROWS = 160;
const { t, db, imports } = await openImports([smallImports(BATCH)]);

/** The batches before those that overlap. */
const OWN = 2 * BATCH;

/**
 * Imports the same rows several times at once; each row is created by one of the imports and found by the others.
 * @param own a row of one of the imports alone, which come first.
 */
async function overlap(
  rows: object[],
  options: Partial<ImportOptions>,
  own: (copy: number, n: number) => object,
  copies = 2,
) {
  const ctx = await t.ctx();
  const contentOf = (copy: number) =>
    ndjson([...Array.from({ length: OWN }, (_, n) => own(copy, n)), ...rows]);
  const ask = { format: 'ndjson', mode: 'upsert', ...options } as const;
  const ids = await Promise.all(
    Array.from({ length: copies }, (_, copy) => askImport(ctx, t.services, contentOf(copy), ask)),
  );
  const results = await Promise.all(ids.map((id) => importResult(t.services, id, 120_000)));
  expect(results.map(({ faults }) => faults)).toEqual(ids.map(() => ({})));
  const sum = (key: string) => results.reduce((all, { job }) => all + job.counts![key]!, 0);
  expect([sum('total'), sum('created'), sum('failed')]).toEqual([
    copies * (OWN + rows.length),
    copies * OWN + rows.length,
    0,
  ]);
  expect(sum('unchanged') + sum('updated')).toBe((copies - 1) * rows.length);
}

const numbers = Array.from({ length: ROWS }, (_, n) => n);
const app = (n: number | string) => ({
  type: 'Application',
  external_id: `O-${n}`,
  name: `Overlap ${n}`,
});

it('creates each card once, with its parent from the file', async () => {
  const rows = numbers.map((n) => ({
    ...app(n),
    ...(n > 0 && { parent_external_id: `O-${Math.floor((n - 1) / 8)}` }),
  }));
  await overlap(rows, { kind: 'cards' }, (copy, n) => app(`${copy}-own-${n}`), 3);
  expect(Number((await db('cards').where('name', '~', '^Overlap [0-9]+$').count())[0]!.count)).toBe(ROWS);
  const parent = await imports.card('O-3');
  expect((await imports.card('O-30')).parent_id).toBe(parent.id);
});

it('creates cards that only their place and name identify once', async () => {
  const rows = numbers.map((n) => ({
    type: 'BusinessCapability',
    name: `Place ${n}`,
    ...(n >= 10 && { parent_path: [`Place ${n % 10}`] }),
  }));
  await overlap(rows, { kind: 'cards' }, (copy, n) => ({
    type: 'BusinessCapability',
    name: `Own ${copy} ${n}`,
  }));
});

it('creates each relation once', async () => {
  const hub = (id: string) => ({ type: 'ITComponent', external_id: id, name: id });
  await imports.run(['O-HUB', 'O-0', 'O-1'].map(hub));
  const rows = numbers.map((n) => ({
    type: 'relAppToITC',
    source_external_id: `O-${n}`,
    target_external_id: 'O-HUB',
    description: `Runs ${n}`,
  }));
  await overlap(rows, { kind: 'relations' }, (copy, n) => ({ ...rows[n]!, target_external_id: `O-${copy}` }));
});

it('creates each data flow once', async () => {
  const rows = numbers.map((n) => ({
    external_id: `F-${n}`,
    source_external_id: `O-${n}`,
    target_external_id: `O-${(n + 1) % ROWS}`,
    description: `Flow ${n}`,
  }));
  await overlap(rows, { kind: 'data_flows' }, (copy, n) => ({
    ...rows[n]!,
    external_id: `F-${copy}-own-${n}`,
  }));
});

it('creates each cost once', async () => {
  const rows = numbers.map((n) => ({
    external_id: `C-${n}`,
    card_type: 'Application',
    card_external_id: `O-${n}`,
    kind: 'licence',
    period_start: '2026-01-01',
    period_end: '2026-12-31',
    amount: n,
  }));
  await overlap(rows, { kind: 'costs' }, (copy, n) => ({ ...rows[n]!, external_id: `C-${copy}-own-${n}` }));
});

it('creates each card of an atomic import once', async () => {
  const rows = numbers.map((n) => ({ ...app(n), external_id: `A-${n}`, name: `Atomic ${n}` }));
  await overlap(rows, { kind: 'cards', atomic: true }, (copy, n) => app(`atomic-${copy}-${n}`));
});
