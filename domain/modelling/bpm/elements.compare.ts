import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { linkKinds } from './bpm.model.ts';

/** How many elements of each kind of difference are listed; all of them are counted. */
export const MAX_LISTED = 1_000;

/** The differences of two models by the ids of elements: counts, and lists in document order as JSON. */
export interface ElementDifferences {
  element_count: number;
  counts: { added: number; removed: number; changed: number; unchanged: number };
  added: JsonText;
  removed: JsonText;
  /** Each with its `changes`: the old and new value of each member. */
  changed: JsonText;
}

/** The compared columns. The position in the document is none of them: every insertion changes it. */
const modelColumns = [
  'element_type',
  'name',
  'documentation',
  'lane_name',
  'pool_name',
  'parent_element_id',
  'next_element_ids',
];
const linkColumns = [...linkKinds.map(({ column }) => column), 'custom_fields'];

/** One of two versions of a flow. */
export interface ComparedVersion {
  id: string;
  content_id: string;
}

/**
 * Compares two stored models, in the database, because tens of thousands of elements would block this process.
 * @param before null for the first model.
 */
export async function compareModels(
  sql: Sql,
  before: string | null,
  after: string,
): Promise<ElementDifferences> {
  const elements = (content: string | null): Fragment => fragment`select * from process_content_elements
    where content_id = ${content}`;
  return await compare(sql, elements(before), elements(after), modelColumns);
}

/** Compares two versions of a flow with their planned links, as far as the caller sees the cards. */
export async function compareVersions(
  ctx: Ctx,
  before: ComparedVersion,
  after: ComparedVersion,
): Promise<ElementDifferences> {
  const visible = visibleCards(ctx);
  const visibleLinks = linkKinds.map(
    ({ column }) => `(select c.id from cards c where c.id = l.${column} and (${visible.sql})) as ${column}`,
  );
  const elements = ({ id, content_id }: ComparedVersion): Fragment => ({
    sql: `select e.*, ${visibleLinks.join(', ')}, l.custom_fields
      from process_content_elements e
      left join process_element_links l on l.flow_version_id = ?::uuid and l.bpmn_element_id = e.bpmn_element_id
      where e.content_id = ?`,
    bindings: [...linkKinds.flatMap(() => visible.bindings), id, content_id],
  });
  return await compare(ctx.db, elements(before), elements(after), [...modelColumns, ...linkColumns]);
}

const elementItem = (more = '') =>
  `json_build_object('bpmn_element_id', d.bpmn_element_id, 'element_type', d.element_type, 'name', d.name${more})`;
const firstOf = (differences: string, item: string) =>
  `(select coalesce(json_agg(${item} order by d.sequence_order), '[]')::text
    from (select * from ${differences} order by sequence_order limit ${MAX_LISTED}) d)`;
const countOf = (differences: string) => `(select count(*)::int from ${differences})`;

async function compare(
  sql: Sql,
  before: Fragment,
  after: Fragment,
  columns: readonly string[],
): Promise<ElementDifferences> {
  const row = (alias: string) => `(${columns.map((column) => `${alias}.${column}`).join(', ')})`;
  const changes = columns
    .map(
      (column) => `case when n.${column} is distinct from o.${column}
        then jsonb_build_object('${column}', jsonb_build_object('old', o.${column}, 'new', n.${column})) else '{}' end`,
    )
    .join(' || ');
  const [found] = await query(sql).rows<
    Record<'total' | 'n_added' | 'n_removed' | 'n_changed', number> &
      Record<'added' | 'removed' | 'changed', JsonText>
  >`with o as materialized (${embed(before)}), n as materialized (${embed(after)}),
       added as materialized (
         select * from n where not exists (select from o where o.bpmn_element_id = n.bpmn_element_id)),
       removed as materialized (
         select * from o where not exists (select from n where n.bpmn_element_id = o.bpmn_element_id)),
       changed as materialized (
         select n.bpmn_element_id, n.sequence_order, n.element_type, n.name, ${embed(changes)} as changes
         from n join o using (bpmn_element_id) where ${embed(row('n'))} is distinct from ${embed(row('o'))})
     select ${embed(countOf('n'))} as total, ${embed(countOf('added'))} as n_added,
     ${embed(countOf('removed'))} as n_removed,
       ${embed(countOf('changed'))} as n_changed, ${embed(firstOf('added', elementItem()))} as added,
       ${embed(firstOf('removed', elementItem()))} as removed,
       ${embed(firstOf('changed', elementItem(`, 'changes', d.changes`)))} as changed`;
  const { total, n_added, n_removed, n_changed, added, removed, changed } = found!;
  const unchanged = total - n_added - n_changed;
  const counts = { added: n_added, removed: n_removed, changed: n_changed, unchanged };
  return { element_count: total, counts, added, removed, changed };
}
