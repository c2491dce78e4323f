import type { Knex } from 'knex';
import { type Db, inTransaction, query } from './database.ts';
import { StartupError } from './startup.ts';

export interface SchemaStep {
  name: string;
  up(knex: Knex): Promise<void>;
}

const LOCK = 7203002;

/** Names of the steps that were applied to the database, oldest first. */
async function appliedSteps(db: Knex): Promise<string[]> {
  if (!(await query(db).value<boolean>`select to_regclass('schema_steps') is not null`)) return [];
  return await db('schema_steps').orderBy('name').pluck('name');
}

function refuseUnknown(applied: string[], steps: SchemaStep[]): void {
  if (applied.length > 0 && !applied.includes(steps[0]!.name)) {
    throw new StartupError(
      'The database was created by a version before the first release and cannot be upgraded: use an empty database.',
    );
  }
  const known = new Set(steps.map((step) => step.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new StartupError(
      `The database was migrated by a newer version (${unknown.join(', ')}): start that version or a later one.`,
    );
  }
}

/**
 * Brings the schema up to date, each step in a transaction of its own, under a lock, so that any number of
 * processes may call it at once and each step runs once.
 * @returns the names of the steps applied now.
 * @throws StartupError when the schema is newer than this program, or older than the first release.
 */
export async function migrate(db: Db, steps: SchemaStep[]): Promise<string[]> {
  const done: string[] = [];
  for (;;) {
    const next = await inTransaction(db, async (trx) => {
      await trx.raw('set local lock_timeout = 0');
      await trx.raw('select pg_advisory_xact_lock(?)', [LOCK]);
      await trx.raw(
        'create table if not exists schema_steps (name text primary key, applied_at timestamptz not null default now())',
      );
      const applied = await appliedSteps(trx);
      refuseUnknown(applied, steps);
      const step = steps.find((candidate) => !applied.includes(candidate.name));
      if (!step) return undefined;
      await step.up(trx);
      await trx('schema_steps').insert({ name: step.name });
      return step.name;
    });
    if (!next) return done;
    done.push(next);
  }
}
