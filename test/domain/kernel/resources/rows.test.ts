import Type from 'typebox';
import {
  deleteRows,
  findRows,
  insertRow,
  lockRow,
  type RowOf,
  rowModel,
  SqlArray,
  updateRow,
} from '../../../../domain/kernel/resources/rows.ts';
import { Nullable, OpenObject, Timestamp, Uuid } from '../../../../domain/kernel/shapes.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

class Sample extends rowModel('row_samples', {
  id: Uuid,
  name: Type.String(),
  parent_id: Nullable(Uuid),
  labels: SqlArray(Type.String()),
  parts: Type.Array(OpenObject),
  amount: Nullable(Type.Number()),
  seen_on: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}

const db = closeAfterAll(await createTestServices()).services.db;
await db.raw(`create table row_samples (id uuid primary key default uuidv7(), name text not null,
    parent_id uuid, labels text[] not null default '{}', parts jsonb not null default '[]', amount numeric,
    seen_on date, created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp())`);

const stored = async (id: string): Promise<RowOf<typeof Sample>> =>
  (await db.raw('select to_jsonb(t) as row from row_samples t where id = ?', [id])).rows[0].row;

it('writes and reads rows as PostgreSQL has them as JSON', async () => {
  const values = {
    name: 'A',
    labels: ['x', 'y"'],
    parts: [{ a: 1 }, {}],
    amount: 1.5,
    seen_on: '2031-01-02',
  };
  const row = await insertRow(db, Sample, values);
  expect(row).toEqual(await stored(row.id));
  expect(row).toMatchObject({ ...values, parent_id: null });
  expect(row.created_at).toMatch(/\.\d{4,6}\+00:00$/);

  expect(await db.transaction((trx) => lockRow(trx, Sample, { id: row.id }))).toEqual(row);

  const updated = await updateRow(db, Sample, { id: row.id }, { parts: [], labels: [], amount: null });
  expect(updated).toEqual(await stored(row.id));
  expect(updated).toMatchObject({ parts: [], labels: [], amount: null, name: 'A' });
  expect(updated.updated_at > row.updated_at).toBe(true);

  expect(await findRows(db, Sample, (query) => query.where({ name: 'A' }))).toEqual([updated]);
  expect(await findRows(db, Sample, (query) => query.where({ name: 'B' }))).toEqual([]);
  expect(await deleteRows(db, Sample, (query) => query.whereIn('id', [row.id]))).toEqual([updated]);
  expect(await lockRow(db, Sample, { id: row.id })).toBeUndefined();
  await expect(updateRow(db, Sample, { id: row.id }, { name: 'B' })).rejects.toThrow('row_samples');
});

it('finds no row by an id that is no UUID, without a query', async () => {
  for (const id of ['', 'x', '{00000000-0000-4000-8000-000000000000}']) {
    expect(await lockRow(db, Sample, { id })).toBeUndefined();
    expect(await lockRow(db, Sample, { parent_id: id })).toBeUndefined();
  }
  expect(await lockRow(db, Sample, { name: 'nobody' })).toBeUndefined();
});

it('throws errors of PostgreSQL with their SQLSTATE, as retries and refusals read them', async () => {
  const { id } = await insertRow(db, Sample, { name: 'A', labels: [], parts: [] });
  const again = insertRow(db, Sample, { id, name: 'B', labels: [], parts: [] });
  await expect(again).rejects.toMatchObject({ code: '23505', constraint: 'row_samples_pkey' });
  const bad = updateRow(db, Sample, { id }, { seen_on: 'yesterday morning' });
  await expect(bad).rejects.toMatchObject({ code: '22007' });
});
