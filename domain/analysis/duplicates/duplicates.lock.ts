import type { Knex } from 'knex';

/** Lets nobody else decide about pairs of a type, or store what was found of it, before the transaction ends. */
export async function lockDecisions(sql: Knex.Transaction, type: string): Promise<void> {
  await sql.raw('select pg_advisory_xact_lock(7203057, hashtext(?))', [type]);
}
