import { startWorkers, type Workers } from '../../workers/runtime.ts';
import { exported } from './exports.ts';
import { createTestServices } from './harness.ts';
import { createImporter } from './imports.ts';

export type TripFormat = 'csv' | 'ndjson';

/** A workspace with workers, to be filled and exported. */
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

export async function openWorkspace() {
  const t = await createTestServices();
  const workers: Workers = await startWorkers(t.services);
  const ctx = await t.ctx();
  return {
    t,
    ctx,
    importer: createImporter(t.services, ctx),
    /** Everything of a kind as a file that the import reads again. */
    exported: async (kind: 'cards' | 'relations', format: TripFormat, limitMs?: number) =>
      String((await exported(t, ctx, { format, kind, profile: 'roundtrip' }, limitMs)).content),
    async close() {
      await workers.close(5_000);
      await t.close();
    },
  };
}

/** Users and tags are no part of the files: the other workspace has them before the cards come. */
async function copyPeopleAndTags(from: Workspace, to: Workspace): Promise<void> {
  for (const table of ['users', 'tag_groups', 'tags']) {
    const { rows } = await from.t.services.db.raw(`select to_jsonb(x) as row from ${table} x`);
    await to.t.services.db.raw(
      `insert into ${table} select v.* from jsonb_populate_recordset(null::${table}, ?::jsonb) v
       on conflict do nothing`,
      [JSON.stringify(rows.map(({ row }: { row: unknown }) => row))],
    );
  }
}

/** Every stored value that a round trip keeps, row by row as JSON. */
export async function storedValues({ t }: Workspace): Promise<Record<string, string[]>> {
  const { db } = t.services;
  const list = async (sql: string): Promise<string[]> =>
    (await db.raw(sql)).rows.map(({ row }: { row: object }) => JSON.stringify(row));
  return {
    cards: await list(
      `select jsonb_build_array(id, type, subtype, name, alias, description, parent_id, lifecycle, attributes, status,
         approval_status, external_id, data_quality, archived_at is null) as row from cards order by id`,
    ),
    relations: await list(
      `select jsonb_build_array(id, type, source_id, target_id, description, attributes) as row
       from relations order by id`,
    ),
    card_tags: await list(`select jsonb_build_array(k.card_id, g.name, t.name) as row
       from card_tags k join tags t on t.id = k.tag_id join tag_groups g on g.id = t.tag_group_id
       order by k.card_id, g.name, t.name`),
    stakeholders: await list(`select jsonb_build_array(s.card_id, u.email, s.role) as row
       from stakeholders s join users u on u.id = s.user_id order by s.card_id, u.email, s.role`),
  };
}

/** Brings the files of one workspace into another, which is empty. @returns the faults of rows that did not come. */
export async function carryOver(from: Workspace, to: Workspace, format: TripFormat, limitMs?: number) {
  await copyPeopleAndTags(from, to);
  const files = { cards: '', relations: '' };
  const faults: Record<string, string[]>[] = [];
  for (const kind of ['cards', 'relations'] as const) {
    files[kind] = await from.exported(kind, format, limitMs);
    faults.push((await to.importer.run(files[kind], { format, kind, mode: 'create' }, to.ctx)).faults);
  }
  return { files, faults };
}
