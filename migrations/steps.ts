import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Knex } from 'knex';
import type { SchemaStep } from '../platform/migrate.ts';
import { addGerman } from './seeds/german.ts';
import { addPlurals } from './seeds/plurals.ts';

/** Executes the SQL files of a folder that match, in the order of their names. */
async function execute(knex: Knex, pattern: string): Promise<void> {
  for (const name of sqlFiles(pattern)) {
    const sql = readFileSync(path.join(import.meta.dirname, name), 'utf8');
    // knex would take the question marks of jsonb operators for placeholders
    await knex.raw(sql.replaceAll('?', '\\?'));
  }
}

const sqlFiles = (pattern: string): string[] => globSync(pattern, { cwd: import.meta.dirname }).sort();

/** All schema steps in the order of their names: version 0.1.0, with one file for each context, and steps since, in SQL or in the program. */
export const schemaSteps: SchemaStep[] = [
  { name: '0001-baseline', up: (knex) => execute(knex, 'baseline/*.sql') },
  ...[
    ...sqlFiles('steps/*.sql').map((file) => ({
      name: path.basename(file, '.sql'),
      up: (knex: Knex) => execute(knex, file),
    })),
    // they fill texts that are empty and change no schema, so they may follow those of a new workspace
    { name: '0017-german-texts', up: addGerman },
    { name: '0022-plural-labels', up: addPlurals },
  ].sort((a, b) => (a.name < b.name ? -1 : 1)),
];
