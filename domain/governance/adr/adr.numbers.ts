import type { Knex } from 'knex';

/**
 * The number after the highest, which nobody else is given before the transaction ends: so there are no gaps and no
 * doubles, whoever writes at the same time.
 */
export async function nextNumber(sql: Knex.Transaction): Promise<number> {
  await sql.raw("select pg_advisory_xact_lock(hashtextextended('adr/number', 0))");
  const { rows } = await sql.raw('select coalesce(max(number), 0) + 1 as number from adrs');
  return rows[0].number;
}
