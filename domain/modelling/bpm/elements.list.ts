import Type from 'typebox';
import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, OptionalFlag, type StaticOf } from '../../kernel/shapes.ts';
import { requireSeenProcess } from './bpm.access.ts';
import { ContentElement, type DiagramRow, elementTypes, linkKinds } from './bpm.model.ts';
import { currentDiagram } from './diagrams.queries.ts';

/**
 * The public id of an element, over the alias `e`: the same in all versions of a diagram.
 * @param lineage SQL of the lineage's id.
 */
export const elementId = (lineage: string): string => `md5(${lineage} || '/' || e.bpmn_element_id)::uuid`;

/** The linked cards that the caller sees, with their names, over the alias of their link. */
export function linkMembers(ctx: Ctx, link: string): Record<string, Fragment> {
  const visible = visibleCards(ctx);
  const linkedCard = (member: string, column: string): Fragment => fragment`(select c.${embed(member)}
    from cards c where c.id = ${embed(link)}.${embed(column)} and (${embed(visible)}))`;
  return Object.fromEntries(
    linkKinds.flatMap(({ column, name }) => [
      [column, linkedCard('id', column)],
      [name, linkedCard('name', column)],
    ]),
  );
}

const columns = columnMembers('e', ContentElement.shown);
/** The members of an element that its model contains, over the alias `e`. */
export const modelMembers: Record<string, string> = columns;

export const elementSorts: ListSpec['sorts'] = {
  sequence_order: { sql: 'e.sequence_order', type: 'bigint', immutable: true },
  name: { sql: 'fold(e.name)', type: 'text', filled: true },
  element_type: { sql: 'e.element_type', type: 'text', filled: true },
  lane_name: { sql: 'fold(e.lane_name)', type: 'text' },
};

export const ELEMENT_SEARCH = `fold(e.name || ' ' || coalesce(e.documentation, '') || ' ' || e.bpmn_element_id)`;

/** The elements of one diagram with their links. Ids come from the database. */
function elementList(
  ctx: Ctx,
  { process_id, lineage_id }: Pick<DiagramRow, 'process_id' | 'lineage_id'>,
): ListSpec {
  return {
    name: 'process-elements',
    from: `process_content_elements e left join process_element_links l on l.lineage_id = '${lineage_id}'
      and l.flow_version_id is null and l.bpmn_element_id = e.bpmn_element_id`,
    id: 'e.id',
    sorts: elementSorts,
    defaultSort: 'sequence_order',
    search: ELEMENT_SEARCH,
    members: {
      id: elementId(`'${lineage_id}'`),
      process_id: `'${process_id}'`,
      ...modelMembers,
      ...linkMembers(ctx, 'l'),
      custom_fields: 'l.custom_fields',
    },
  };
}

export const elementFilters = {
  element_type: Type.Optional(Choice(elementTypes, 'Only elements of this type')),
  linked: OptionalFlag('Only elements that are linked to a card, or the others'),
};
export type ElementFilter = StaticOf<typeof elementFilters>;

/** The conditions of a filter, over the alias `e` and those of the links. */
export function elementConditions({ element_type, linked }: ElementFilter, links: string[]): Condition[] {
  const where: Condition[] = [];
  if (element_type !== undefined) where.push(fragment`e.element_type = ${element_type}`);
  if (linked !== undefined) {
    const any = links.flatMap((link) => linkKinds.map(({ column }) => `${link}.${column} is not null`));
    where.push(fragment`${embed(linked ? '' : 'not ')}(${embed(any.join(' or '))})`);
  }
  return where;
}

/** The elements of the current diagram of a process. @throws EstateError `forbidden`, `not_found`. */
export async function listElements(
  ctx: Ctx,
  processId: string,
  params: ListParams & ElementFilter,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'bpm.view');
  const process = await requireSeenProcess(ctx.db, ctx, processId);
  const diagram = (await currentDiagram(ctx.db, process.id)) ?? {
    process_id: process.id,
    lineage_id: process.id,
    content_id: '',
  };
  const where: Condition[] = [
    fragment`e.content_id = ${diagram.content_id}`,
    ...elementConditions(params, ['l']),
  ];
  return await runList(ctx, elementList(ctx, diagram), where, params);
}

/** One element as its JSON text. */
export async function elementText(sql: Sql, ctx: Ctx, diagram: DiagramRow, rowId: string): Promise<JsonText> {
  return await readItem(sql, elementList(ctx, diagram), 'process element', rowId);
}
