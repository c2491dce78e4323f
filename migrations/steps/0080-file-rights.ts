import type { Knex } from 'knex';

/** The permissions without which a stored file is not opened, also by its owner. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table files add column needs text[] not null default '{}'`);
  const byKind = {
    'workspace-export': ['admin.export_workspace'],
    export: ['inventory.export'],
    'archimate-export': ['inventory.export', 'relations.view'],
  };
  for (const [kind, needs] of Object.entries(byKind)) {
    await knex.raw('update files f set needs = ? from jobs j where j.result_file_id = f.id and j.kind = ?', [
      needs,
      kind,
    ]);
  }
}
