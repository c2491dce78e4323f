import { expect, it } from 'vitest';
import { lockRow, updateRow } from '../../../../domain/kernel/events/stored-rows.ts';
import type { Sql } from '../../../../platform/database.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

const KEY = '00000000-0000-4000-8000-000000000000';

/** The plan of the statement that an act makes; sequential scans are taken only where there is nothing else. */
async function planOf(act: (sql: Sql) => Promise<unknown>): Promise<string> {
  let plan = '';
  await t.services.db.transaction(async (trx) => {
    await trx.raw('set local enable_seqscan = off');
    const explained = async (sql: string, bindings: never) => {
      const { rows } = await trx.raw(`explain (costs off) ${sql}`, bindings);
      plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
      return { rows: [{ row: null }] };
    };
    await act({ raw: explained } as unknown as Sql);
  });
  return plan;
}

it('finds the rows of every table by their primary key, however many there are', async () => {
  const { rows } = await t.services.db.raw(
    `select c.conrelid::regclass::text as table, a.attname as column, c.conname as key
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'p' and cardinality(c.conkey) = 1
       and (a.attname = 'id' and a.atttypid = 'uuid'::regtype or a.attname = 'key')
       and exists (select from pg_attribute u where u.attrelid = c.conrelid and u.attname = 'updated_at')`,
  );
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.map((row: { table: string }) => row.table)).toEqual(
    expect.arrayContaining(['risks', 'ppm_tasks', 'adrs', 'comments', 'card_types', 'compliance_findings']),
  );
  for (const { table, column, key } of rows) {
    const found = await planOf((sql) => lockRow(sql, table, { [column]: KEY }));
    expect(found, `${table}\n${found}`).toContain(`using ${key} `);
    const set = { [column]: KEY };
    const written = await planOf((sql) => updateRow(sql, table, { column, value: KEY }, set));
    expect(written, `${table}\n${written}`).toContain(`using ${key} `);
  }
});

it('finds no row by an id that is none, without asking', async () => {
  for (const id of ['', 'x', `{${KEY}}`, `${KEY} `, KEY.slice(1), `${KEY}'`]) {
    expect(await lockRow(t.services.db, 'risks', { id }), id).toBeUndefined();
  }
  expect(
    await lockRow(t.services.db, 'risk_mitigation_occurrences', { id: KEY, task_id: 'x' }),
  ).toBeUndefined();
});
