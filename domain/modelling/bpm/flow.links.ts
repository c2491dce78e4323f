import { embed, fragment, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, Fragment, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requireDraftViewer } from './bpm.access.ts';
import { type FlowRow, type LinkTargets, linkKinds } from './bpm.model.ts';
import { currentDiagram } from './diagrams.queries.ts';
import {
  ELEMENT_SEARCH,
  type ElementFilter,
  elementConditions,
  elementSorts,
  linkMembers,
  modelMembers,
} from './elements.list.ts';
import { lockLinks, writeRows } from './links.save.ts';

/** The planned links of a version, by the ids of their elements. */
export const plannedLinks = (work: Pick<Work, 'sql'>, versionId: string) =>
  lockLinks(work, { flow_version_id: versionId });

/** Writes the planned links of a version. They have no effect before its approval. */
export async function savePlanned(
  work: Work,
  { id, process_id }: FlowRow,
  links: ReadonlyMap<string, LinkTargets>,
): Promise<void> {
  const owner = { process_id, lineage_id: process_id, flow_version_id: id };
  const wanted = new Map([...links].map(([element, targets]) => [element, { ...targets, relation_ids: [] }]));
  await writeRows(work, owner, await plannedLinks(work, id), wanted);
}

/**
 * The elements of a version with their planned links or, where nothing is planned, those in force. The ids, which come
 * from the database, are a part of the SQL.
 */
function draftElementList(ctx: Ctx, version: FlowRow, lineageId: string): ListSpec {
  const planned = linkMembers(ctx, 'l');
  const inForce = linkMembers(ctx, 'k');
  const either = Object.entries(planned).map(([name, member]): [string, Fragment] => {
    return [name, fragment`case when l.id is null then ${embed(inForce[name]!)} else ${embed(member)} end`];
  });
  return {
    name: 'process-draft-elements',
    from: `process_content_elements e left join process_element_links l on l.flow_version_id = '${version.id}'
        and l.bpmn_element_id = e.bpmn_element_id
      left join process_element_links k on k.lineage_id = '${lineageId}' and k.flow_version_id is null
        and k.bpmn_element_id = e.bpmn_element_id`,
    id: 'e.id',
    sorts: elementSorts,
    defaultSort: 'sequence_order',
    search: ELEMENT_SEARCH,
    members: {
      ...modelMembers,
      ...Object.fromEntries(either),
      custom_fields: 'case when l.id is null then k.custom_fields else l.custom_fields end',
      is_planned: 'l.id is not null',
    },
  };
}

async function lineageOf(sql: Sql, processId: string): Promise<string> {
  return (await currentDiagram(sql, processId))?.lineage_id ?? processId;
}

/** The elements of a version. @throws EstateError `forbidden`, `not_found`. */
export async function listDraftElements(
  ctx: Ctx,
  ids: { process: string; version: string },
  params: ListParams & ElementFilter,
): Promise<JsonText> {
  const process = await requireDraftViewer(ctx.db, ctx, ids.process);
  const version = await ctx
    .db('process_flow_versions')
    .where({ id: ids.version, process_id: process.id })
    .first();
  if (!version) throw notFound('flow version', ids.version);
  const spec = draftElementList(ctx, version as FlowRow, await lineageOf(ctx.db, process.id));
  const where: Condition[] = [
    fragment`e.content_id = ${version.content_id}`,
    ...elementConditions(params, ['l', 'k']),
  ];
  return await runList(ctx, spec, where, params);
}

/** One element of a version as its JSON text. @param rowId the id of the element's row. */
export async function draftElementText(sql: Sql, ctx: Ctx, row: FlowRow, rowId: string): Promise<JsonText> {
  const spec = draftElementList(ctx, row, await lineageOf(sql, row.process_id));
  return await readItem(sql, spec, 'draft element', rowId);
}

/** The cards of planned links that are archived or deleted, by element. */
export async function inactiveTargets(
  { sql }: Work,
  links: ReadonlyMap<string, LinkTargets>,
): Promise<{ bpmn_element_id: string; card_id: string }[]> {
  const targets = [...links].flatMap(([bpmn_element_id, link]) =>
    linkKinds.flatMap(({ column }) => (link[column] ? [{ bpmn_element_id, card_id: link[column] }] : [])),
  );
  const ids = targets.map(({ card_id }) => card_id);
  const active = new Set(await sql('cards').whereIn('id', ids).where({ status: 'ACTIVE' }).pluck('id'));
  return targets.filter(({ card_id }) => !active.has(card_id));
}
