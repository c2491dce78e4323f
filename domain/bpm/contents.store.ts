import type { Sql } from '../../platform/database.ts';
import type { JsonText } from '../lists/lists.types.ts';
import type { ModelElement } from './bpm.types.ts';
import type { PreparedContent, PreparedModel } from './bpmn.read.ts';

/** Stores a model or picture; what is there already is only kept for longer. @returns its id. */
export async function storeContent(sql: Sql, content: PreparedContent | PreparedModel): Promise<string> {
  const { id, kind, text, original, encoding, size } = content;
  const model = 'elements' in content ? content : undefined;
  const { rows } = await sql.raw(
    `insert into process_contents as p (id, kind, text, original, encoding, size, warnings, picture)
     values (?, ?, ?, ?, ?, ?, ?::jsonb, ?)
     on conflict (id) do update set used_at = now() returning xmax = 0 as is_new`,
    [
      id,
      kind,
      text,
      original,
      encoding,
      size,
      JSON.stringify(model?.warnings ?? []),
      model?.picture ?? null,
    ] as never,
  );
  if (rows[0].is_new && model) {
    await sql.raw(
      `insert into process_content_elements (content_id, bpmn_element_id, sequence_order, element_type, name,
         documentation, lane_name, pool_name, parent_element_id, is_automated, next_element_ids)
       select ?, e.bpmn_element_id, e.sequence_order, e.element_type, e.name, e.documentation, e.lane_name, e.pool_name,
         e.parent_element_id, e.is_automated, e.next_element_ids
       from jsonb_to_recordset(?::jsonb) as e(bpmn_element_id text, sequence_order int, element_type text, name text,
         documentation text, lane_name text, pool_name text, parent_element_id text, is_automated boolean,
         next_element_ids text[])`,
      [id, model.elements],
    );
  }
  return id;
}

/** The elements of a stored model, in the order of the document. */
export async function elementsOf(sql: Sql, contentId: string): Promise<ModelElement[]> {
  return await sql('process_content_elements')
    .where({ content_id: contentId })
    .orderBy('sequence_order')
    .select(
      'bpmn_element_id',
      'element_type',
      'name',
      'documentation',
      'lane_name',
      'pool_name',
      'parent_element_id',
      'is_automated',
      'sequence_order',
      'next_element_ids',
    );
}

/** Those of the elements that a stored model has. */
export async function elementsAmong(sql: Sql, contentId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set(
    await sql('process_content_elements')
      .where({ content_id: contentId })
      .whereIn('bpmn_element_id', ids)
      .pluck('bpmn_element_id'),
  );
}

/** How a stored model differs from the one before: lists of elements as JSON, by their order in the document. */
export interface ModelDifferences {
  element_count: number;
  added: JsonText;
  removed: JsonText;
  changed: JsonText;
}

const told = (
  alias: string,
) => `coalesce(json_agg(json_build_object('bpmn_element_id', ${alias}.bpmn_element_id,
    'element_type', ${alias}.element_type, 'name', ${alias}.name) order by ${alias}.sequence_order), '[]')::text`;
/** What a model says of an element; its place in the document changes with every element before it. */
const said = (alias: string) =>
  ['element_type', 'name', 'documentation', 'lane_name', 'pool_name', 'parent_element_id', 'next_element_ids']
    .map((column) => `${alias}.${column}`)
    .join(', ');

/**
 * Compares a stored model with the one before, in the database: tens of thousands of elements would keep others waiting
 * while they are read.
 * @param before null where there was none.
 */
export async function compareModels(
  sql: Sql,
  before: string | null,
  after: string,
): Promise<ModelDifferences> {
  const { rows } = await sql.raw(
    `with o as materialized (select * from process_content_elements where content_id = ?),
       n as materialized (select * from process_content_elements where content_id = ?)
     select (select count(*)::int from n) as element_count,
       (select ${told('n')} from n left join o using (bpmn_element_id) where o.content_id is null) as added,
       (select ${told('o')} from o left join n using (bpmn_element_id) where n.content_id is null) as removed,
       (select ${told('n')} from n join o using (bpmn_element_id)
        where (${said('n')}) is distinct from (${said('o')})) as changed`,
    [before, after] as never,
  );
  return rows[0];
}

/** Removes contents that nothing has shown for so many days. @returns how many went. */
export async function removeUnusedContents(sql: Sql, days: number, most: number): Promise<number> {
  const { rowCount } = await sql.raw(
    `delete from process_contents where id in (
       select p.id from process_contents p where p.used_at < now() - make_interval(days => ?)
         and not exists (select from process_diagrams d where p.id in (d.content_id, d.thumbnail_id))
         and not exists (select from process_flow_versions f where p.id in (f.content_id, f.thumbnail_id))
       limit ? for update of p skip locked)`,
    [days, most],
  );
  return rowCount as number;
}
