import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Knex } from 'knex';

const folder = fileURLToPath(new URL('baseline/', import.meta.url));

/** The schema of version 0.1.0: one file for each context, in the order of their names. */
export async function up(knex: Knex): Promise<void> {
  for (const name of readdirSync(folder).sort()) {
    const sql = readFileSync(`${folder}/${name}`, 'utf8');
    // knex would take the question marks of jsonb operators for placeholders
    await knex.raw(sql.replaceAll('?', '\\?'));
  }
}
