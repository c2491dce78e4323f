// @redis

/** Upserts of one file that run at the same time, in many batches. */

import type { ImportOptions } from '../../../../domain/exchange/imports/imports.run.ts';
import { askImport, importResult, ndjson, openImports } from '../../../support/imports.ts';
import { smallImports } from '../../../workers/fixtures/small-imports.processors.ts';

const BATCH = 20;
const ROWS = 160;
const { t, db, imports } = await openImports([smallImports(BATCH)]);

/** Imports the same rows several times at once; each row is created by one of the imports and found by the others. */
async function overlap(rows: object[], options: Partial<ImportOptions>, copies = 2) {
  const ctx = await t.ctx();
  const ask = { format: 'ndjson', mode: 'upsert', ...options } as const;
  const ids = await Promise.all(
    Array.from({ length: copies }, () => askImport(ctx, t.services, ndjson(rows), ask)),
  );
  const results = await Promise.all(ids.map((id) => importResult(t.services, id, 120_000)));
  expect(results.map(({ faults }) => faults)).toEqual(ids.map(() => ({})));
  const sum = (key: string) => results.reduce((all, { job }) => all + job.counts![key]!, 0);
  expect([sum('total'), sum('created'), sum('failed')]).toEqual([copies * rows.length, rows.length, 0]);
  expect(sum('unchanged') + sum('updated')).toBe((copies - 1) * rows.length);
  return results;
}

const numbers = Array.from({ length: ROWS }, (_, n) => n);
const app = (n: number) => ({ type: 'Application', external_id: `O-${n}`, name: `Overlap ${n}` });

it('creates each card once, with its parent from the file', async () => {
  const rows = numbers.map((n) => ({
    ...app(n),
    ...(n > 0 && { parent_external_id: `O-${Math.floor((n - 1) / 8)}` }),
  }));
  await overlap(rows, { kind: 'cards' }, 3);
  expect(await db('cards').where('external_id', 'like', 'O-%').countDistinct('name')).toEqual([
    { count: ROWS },
  ]);
  const parent = await imports.card('O-3');
  expect((await imports.card('O-30')).parent_id).toBe(parent.id);
});

it('creates cards that only their place and name identify once', async () => {
  const rows = numbers.map((n) => ({
    type: 'BusinessCapability',
    name: `Place ${n}`,
    ...(n >= 10 && { parent_path: [`Place ${n % 10}`] }),
  }));
  await overlap(rows, { kind: 'cards' });
});

it('creates each relation once', async () => {
  await imports.run([{ type: 'ITComponent', external_id: 'O-HUB', name: 'Hub' }]);
  const rows = numbers.map((n) => ({
    type: 'relAppToITC',
    source_external_id: `O-${n}`,
    target_external_id: 'O-HUB',
    description: `Runs ${n}`,
  }));
  await overlap(rows, { kind: 'relations' });
});

it('creates each data flow once', async () => {
  const rows = numbers.map((n) => ({
    external_id: `F-${n}`,
    source_external_id: `O-${n}`,
    target_external_id: `O-${(n + 1) % ROWS}`,
    description: `Flow ${n}`,
  }));
  await overlap(rows, { kind: 'data_flows' });
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
  await overlap(rows, { kind: 'costs' });
});

it('creates each card of an atomic import once', async () => {
  const rows = numbers.map((n) => ({ ...app(n), external_id: `A-${n}`, name: `Atomic ${n}` }));
  await overlap(rows, { kind: 'cards', atomic: true });
});

it('still fails rows that another import has not created', async () => {
  const rows = numbers.map((n) => ({ ...app(n), external_id: `D-${n}`, name: `Double ${n}` }));
  const doubled = [
    ...rows,
    { ...rows[5]!, name: 'Again' },
    { ...app(0), external_id: 'D-X', name: 'Double 7' },
  ];
  const ctx = await t.ctx();
  const ask = { kind: 'cards', format: 'ndjson', mode: 'upsert' } as const;
  const ids = await Promise.all([1, 2].map(() => askImport(ctx, t.services, ndjson(doubled), ask)));
  for (const id of ids) {
    const { faults, job } = await importResult(t.services, id, 120_000);
    expect(faults).toEqual({
      [ROWS + 1]: ['external_id duplicate_in_file'],
      [ROWS + 2]: ['name sibling_name_taken'],
    });
    expect(job.counts).toMatchObject({ total: ROWS + 2, failed: 2 });
  }
});
