import { query, type Sql } from '../../platform/database.ts';

/** Tables of what follows, of what is told, and of how work is done: no part of the inventory. */
const apart = [
  'events',
  'card_old_values',
  'relation_old_values',
  'feed',
  'topic_versions',
  'mutation_batches',
  'idempotency_keys',
  'jobs',
  'list_snapshots',
  'list_snapshot_chunks',
  'metamodel_versions',
  'notifications',
  'calculation_runs',
  'ai_usage',
  // diagrams name their content by what it is
  'diagram_drawings',
  'suppliers',
  'supplier_names',
  'supplier_cards',
  'modernizations',
  'process_content_elements',
];
const SHOWN = `exists (select from process_diagrams d where t.id in (d.content_id, d.thumbnail_id))
  or exists (select from process_flow_versions f where t.id in (f.content_id, f.thumbnail_id))`;
/** Of these tables only some rows are part of the inventory: contents in use, and merges that stand. */
const standing: Record<string, string> = {
  files: 'expires_at is null',
  card_merges: 'undone_at is null',
  process_contents: SHOWN,
};
const left = ['updated_at', 'updated_by', 'version', 'expires_at'];

/** What stands in every table of the inventory, row by row, but for who changed it last and when. */
export async function tablesOf(db: Sql): Promise<Record<string, unknown[]>> {
  const names = await query(db).rows`
       select tablename as name from pg_tables
       where schemaname = 'public' and tablename <> all(${apart}::text[])
       and tablename !~ 'migration|webhook|throttle|notifier' order by 1`;
  const tables: Record<string, unknown[]> = {};
  for (const { name } of names) {
    const { rows } = await db.raw(
      `select to_jsonb(t) - ?::text[] as row from "${name}" t where ${standing[name] ?? 'true'}
       order by (to_jsonb(t) - ?::text[])::text`,
      [left, left],
    );
    tables[name] = rows.map(({ row }: { row: unknown }) => row);
  }
  return tables;
}
