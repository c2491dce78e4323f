import type { Knex } from 'knex';

/**
 * Who holds an idempotency key, and what the commands of its request returned: a request whose process died is answered
 * from these results, or carried out again if it had written nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table idempotency_keys
      -- changes with each request that takes the key over; a command commits only under its own claim
      add column claim uuid,
      -- the process that carries the request out, by the number under which it holds a shared advisory lock
      add column holder integer,
      -- one result for each command that has committed, in order, until the answer is kept; null: could not be stored
      add column results bytea[] not null default '{}';

    -- A process holds the lock through its connection for notifications, which ends with the process.
    create function process_alive(process integer) returns boolean language sql stable as $$
      select exists (
        select 1 from pg_locks
        where locktype = 'advisory' and classid = 7203091 and objid = process::bigint::oid and objsubid = 2 and granted
          and database = (select oid from pg_database where datname = current_database()))
    $$;
  `);
}
