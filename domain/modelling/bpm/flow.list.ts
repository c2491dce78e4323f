import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { may, mayOnCard, requirePermission } from '../../kernel/permissions/policy.ts';
import { requireDraftViewer, requireSeenProcess, rights } from './bpm.access.ts';
import { type FlowRow, type FlowStatus, FlowVersion, linkKinds } from './bpm.model.ts';
import { compareVersions } from './elements.compare.ts';

/** Bytes of models and pictures in one page. */
const MAX_PAGE = 32 * 1024 * 1024;

const person = (column: string) => `(select u.display_name from users u where u.id = v.${column})`;
const target = `json_build_object(${linkKinds.map(({ column }) => `'${column}', l.${column}`).join(', ')},
  'custom_fields', l.custom_fields)`;

/** Flow versions over the aliases `v`, `p` of the model and `t` of the picture. */
const flowList = {
  name: 'process-flow-versions',
  from: `process_flow_versions v join process_contents p on p.id = v.content_id
    left join process_contents t on t.id = v.thumbnail_id`,
  id: 'v.id',
  sorts: columnSorts('v', FlowVersion, 'revision', 'created_at', 'archived_at'),
  defaultSort: 'revision',
  defaultDir: 'desc' as const,
  members: {
    ...columnMembers('v', FlowVersion.shown),
    bpmn_xml: 'p.text',
    svg_thumbnail: 't.text',
    warnings: 'p.warnings',
    created_by_name: person('created_by'),
    submitted_by_name: person('submitted_by'),
    approved_by_name: person('approved_by'),
    draft_element_links: `(select json_object_agg(l.bpmn_element_id, ${target} order by l.bpmn_element_id)
      from process_element_links l where l.flow_version_id = v.id)`,
  },
};

/** The versions of a process in any of the statuses, newest first. */
const versionsIn = (...statuses: FlowStatus[]) =>
  defineList({
    ...flowList,
    async where(ctx, params, processId) {
      const process = await requireDraftViewer(ctx.db, ctx, processId);
      const where = [fragment`v.process_id = ${process.id}::uuid and v.status = any(${statuses}::text[])`];
      await checkPageSize(ctx.db, where, params);
      return where;
    },
  });
export const flowDrafts = versionsIn('draft', 'pending');
export const flowArchive = versionsIn('archived');

/** @throws EstateError naming `page_size` where a page could exceed {@link MAX_PAGE}. */
async function checkPageSize(sql: Sql, where: Condition[], { fields, page_size }: ListParams): Promise<void> {
  const members = fields?.split(',').map((name) => name.trim()) ?? ['bpmn_xml'];
  if (!members.includes('bpmn_xml') && !members.includes('svg_thumbnail')) return;
  const w = whereClause(where);
  const [page] = await query(sql).rows<{ size: number }>`select coalesce(sum(size), 0) as size from (
       select p.size + coalesce(t.size, 0) as size from ${embed(flowList.from)}${embed(w)} order by 1 desc
       limit ${page_size}) largest`;
  if (page!.size <= MAX_PAGE) return;
  throw invalidField(
    'page_size',
    'too_large',
    'would contain more than 32 MiB of models: use a smaller page, or leave bpmn_xml and svg_thumbnail out of fields',
  );
}

/** One version as its JSON text, without a check of rights. */
export async function flowText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, flowList, 'flow version', id);
}

/** The published version; the text `null` where there is none. @throws EstateError `forbidden`, `not_found`. */
export async function readPublished(ctx: Ctx, processId: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'bpm.view');
  const process = await requireSeenProcess(ctx.db, ctx, processId);
  const row = await ctx
    .db('process_flow_versions')
    .where({ process_id: process.id, status: 'published' })
    // merges by earlier versions may have left two; the one that was approved last counts
    .orderBy([{ column: 'approved_at', order: 'desc' }, 'id'])
    .first('id');
  return row ? await flowText(ctx.db, row.id) : 'null';
}

/** One version of any status. @throws EstateError `forbidden`, `not_found`. */
export async function readFlow(ctx: Ctx, processId: string, id: string): Promise<JsonText> {
  const process = await requireDraftViewer(ctx.db, ctx, processId);
  const row = await ctx.db('process_flow_versions').where({ id, process_id: process.id }).first('id');
  if (!row) throw notFound('flow version', id);
  return await flowText(ctx.db, row.id);
}

/** What the caller may do with the flow of a process. @throws EstateError `forbidden`, `not_found`. */
export async function readFlowPermissions(ctx: Ctx, processId: string) {
  const process = await requireDraftViewer(ctx.db, ctx, processId);
  return {
    can_view_drafts: may(ctx.caller, 'bpm.view') || mayOnCard(ctx, rights.viewDrafts, process),
    can_edit_draft: mayOnCard(ctx, rights.drafts, process),
    can_approve: mayOnCard(ctx, rights.approve, process),
  };
}

/**
 * The differences of two versions of a flow with their planned links, by element, as JSON.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function compareFlows(
  ctx: Ctx,
  processId: string,
  ids: { base: string; other: string },
): Promise<JsonText> {
  const process = await requireDraftViewer(ctx.db, ctx, processId);
  const versions: FlowRow[] = await ctx
    .db('process_flow_versions')
    .where({ process_id: process.id })
    .whereIn('id', [ids.base, ids.other])
    .select();
  const versionOf = (id: string): FlowRow => {
    const version = versions.find((known) => known.id === id.toLowerCase());
    if (!version) throw notFound('flow version', id);
    return version;
  };
  const [base, other] = [versionOf(ids.base), versionOf(ids.other)];
  const { counts, added, removed, changed } = await compareVersions(ctx, base, other);
  const summary = ({ id, revision, status }: FlowRow) => ({ id, revision, status });
  const plain = JSON.stringify({
    base: summary(base),
    other: summary(other),
    counts,
    unchanged: counts.unchanged,
  });
  return `${plain.slice(0, -1)},"added":${added},"removed":${removed},"changed":${changed}}`;
}
