import { queryRows, type Sql } from '../../../platform/database.ts';
import type { PreparedContent, PreparedModel } from './bpmn.read.ts';

/** Stores a model or picture; an existing one is only marked as used. @returns its id. */
export async function storeContent(sql: Sql, content: PreparedContent | PreparedModel): Promise<string> {
  const { id, kind, text, original, encoding, size } = content;
  const model = 'elements' in content ? content : undefined;
  const [stored] = await queryRows<{ is_new: boolean }>(
    sql,
    `insert into process_contents as p (id, kind, text, original, encoding, size, warnings, picture)
     values (?, ?, ?, ?, ?, ?, ?::jsonb, ?)
     on conflict (id) do update set used_at = now() returning xmax = 0 as is_new`,
    [id, kind, text, original, encoding, size, JSON.stringify(model?.warnings ?? []), model?.picture ?? null],
  );
  if (!stored!.is_new || !model) return id;
  for (const elements of model.elements) {
    await sql.raw(
      `insert into process_content_elements (content_id, bpmn_element_id, sequence_order, element_type, name,
         documentation, lane_name, pool_name, parent_element_id, is_automated, next_element_ids)
       select ?, e.bpmn_element_id, e.sequence_order, e.element_type, e.name, e.documentation, e.lane_name, e.pool_name,
         e.parent_element_id, e.is_automated, e.next_element_ids
       from jsonb_to_recordset(?::jsonb) as e(bpmn_element_id text, sequence_order int, element_type text, name text,
         documentation text, lane_name text, pool_name text, parent_element_id text, is_automated boolean,
         next_element_ids text[])`,
      [id, elements],
    );
  }
  return id;
}

/** Those of the elements that a stored model contains. */
export async function elementsAmong(sql: Sql, contentId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set(
    await sql('process_content_elements')
      .where({ content_id: contentId })
      .whereIn('bpmn_element_id', ids)
      .pluck('bpmn_element_id'),
  );
}

/** Deletes contents that nothing has used for this number of days. @returns how many. */
export async function deleteUnusedContents(sql: Sql, days: number, limit: number): Promise<number> {
  const { rowCount } = await sql.raw(
    `delete from process_contents where id in (
       select p.id from process_contents p where p.used_at < now() - make_interval(days => ?)
         and not exists (select from process_diagrams d where p.id in (d.content_id, d.thumbnail_id))
         and not exists (select from process_flow_versions f where p.id in (f.content_id, f.thumbnail_id))
       limit ? for update of p skip locked)`,
    [days, limit],
  );
  return rowCount as number;
}
