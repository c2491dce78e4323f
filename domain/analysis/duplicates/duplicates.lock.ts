import type { Knex } from 'knex';

/** Locks the decisions and results of a type until the transaction ends. */
export async function lockDecisions(sql: Knex.Transaction, type: string): Promise<void> {
  await sql.raw('select pg_advisory_xact_lock(7203057, hashtext(?))', [type]);
}
