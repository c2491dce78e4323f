import type { Db } from '../platform/database.ts';
import { migrate } from '../platform/migrate.ts';
import { seedWorkspace } from './seeds/workspace.ts';
import { schemaSteps } from './steps.ts';

/** Brings schema and seeds up to date; safe to be called by any number of processes at once. */
export async function prepareDatabase(db: Db): Promise<string[]> {
  const applied = await migrate(db, schemaSteps);
  await seedWorkspace(db);
  return applied;
}
