import type { Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.visible.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { linkKinds } from './bpm.types.ts';

/** How many elements of each kind of difference are named; all of them are counted. */
export const MOST_NAMED = 1_000;

/** How two models differ, element by element, each found again by its id: counts, and lists by place as JSON. */
export interface ElementDifferences {
  element_count: number;
  counts: { added: number; removed: number; changed: number; unchanged: number };
  added: JsonText;
  removed: JsonText;
  /** Each with its `changes`: what the model says of it, by name, as it was and as it is. */
  changed: JsonText;
}

/** What a model says of an element. Its place in the document is none of it: it changes with every element before. */
const said = [
  'element_type',
  'name',
  'documentation',
  'lane_name',
  'pool_name',
  'parent_element_id',
  'next_element_ids',
];
const linked = [...linkKinds.map(({ column }) => column), 'custom_fields'];

/** One of two versions of a flow, with what it plans. */
export interface ComparedVersion {
  id: string;
  content_id: string;
}

/**
 * Compares a stored model with the one before, in the database: tens of thousands of elements would keep others waiting
 * while they are read.
 * @param before null where there was none.
 */
export async function compareModels(
  sql: Sql,
  before: string | null,
  after: string,
): Promise<ElementDifferences> {
  const elements = (content: string | null): Fragment => ({
    sql: 'select * from process_content_elements where content_id = ?',
    bindings: [content],
  });
  return await compare(sql, elements(before), elements(after), said);
}

/** Compares two versions of a flow with what they plan for their elements, as far as the caller sees the cards. */
export async function compareVersions(
  ctx: Ctx,
  before: ComparedVersion,
  after: ComparedVersion,
): Promise<ElementDifferences> {
  const visible = visibleCards(ctx);
  const seen = linkKinds.map(
    ({ column }) => `(select c.id from cards c where c.id = l.${column} and (${visible.sql})) as ${column}`,
  );
  const elements = ({ id, content_id }: ComparedVersion): Fragment => ({
    sql: `select e.*, ${seen.join(', ')}, l.custom_fields
      from process_content_elements e
      left join process_element_links l on l.flow_version_id = ?::uuid and l.bpmn_element_id = e.bpmn_element_id
      where e.content_id = ?`,
    bindings: [...linkKinds.flatMap(() => visible.bindings), id, content_id],
  });
  return await compare(ctx.db, elements(before), elements(after), [...said, ...linked]);
}

const named = (more = '') =>
  `json_build_object('bpmn_element_id', d.bpmn_element_id, 'element_type', d.element_type, 'name', d.name${more})`;
const firstOf = (differences: string, item: string) =>
  `(select coalesce(json_agg(${item} order by d.sequence_order), '[]')::text
    from (select * from ${differences} order by sequence_order limit ${MOST_NAMED}) d)`;
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
  const { rows } = await sql.raw(
    `with o as materialized (${before.sql}), n as materialized (${after.sql}),
       added as materialized (
         select * from n where not exists (select from o where o.bpmn_element_id = n.bpmn_element_id)),
       removed as materialized (
         select * from o where not exists (select from n where n.bpmn_element_id = o.bpmn_element_id)),
       changed as materialized (
         select n.bpmn_element_id, n.sequence_order, n.element_type, n.name, ${changes} as changes
         from n join o using (bpmn_element_id) where ${row('n')} is distinct from ${row('o')})
     select ${countOf('n')} as total, ${countOf('added')} as n_added, ${countOf('removed')} as n_removed,
       ${countOf('changed')} as n_changed, ${firstOf('added', named())} as added,
       ${firstOf('removed', named())} as removed,
       ${firstOf('changed', named(`, 'changes', d.changes`))} as changed`,
    [...before.bindings, ...after.bindings] as never,
  );
  const { total, n_added, n_removed, n_changed, added, removed, changed } = rows[0];
  const unchanged = total - n_added - n_changed;
  return {
    element_count: total,
    counts: { added: n_added, removed: n_removed, changed: n_changed, unchanged },
    added,
    removed,
    changed,
  };
}
