import type { Sql } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { visibleCards } from '../cards/cards.visible.ts';
import type { Ctx } from '../context.ts';
import { requireDraftViewer } from './bpm.access.ts';
import { type FlowRow, type LinkTargets, linkKinds } from './bpm.types.ts';
import { elementsOf } from './contents.store.ts';
import { type ComparedElement, compareElements, type ElementDifferences } from './elements.compare.ts';

type ComparedVersion = Pick<FlowRow, 'id' | 'revision' | 'status'>;

export interface FlowComparison extends ElementDifferences {
  base: ComparedVersion;
  other: ComparedVersion;
}

/**
 * How two versions of a flow differ, by element, with the links that they plan.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function compareFlows(
  ctx: Ctx,
  processId: string,
  ids: { base: string; other: string },
): Promise<FlowComparison> {
  const process = await requireDraftViewer(ctx.db, ctx, processId);
  const versions: FlowRow[] = await ctx
    .db('process_flow_versions')
    .where({ process_id: process.id })
    .whereIn('id', [ids.base, ids.other])
    .select();
  const named = (id: string): FlowRow => {
    const version = versions.find((known) => known.id === id.toLowerCase());
    if (!version) throw notFound('flow version', id);
    return version;
  };
  const [base, other] = [named(ids.base), named(ids.other)];
  const [before, after] = [await withLinks(ctx.db, ctx, base), await withLinks(ctx.db, ctx, other)];
  const told = ({ id, revision, status }: FlowRow): ComparedVersion => ({ id, revision, status });
  return { base: told(base), other: told(other), ...compareElements(before, after) };
}

/** The elements of a version with what it plans for them, as far as the caller sees the cards. */
async function withLinks(sql: Sql, ctx: Ctx, version: FlowRow): Promise<ComparedElement[]> {
  const visible = visibleCards(ctx);
  const seen = linkKinds.map(
    ({ column }) => `(select c.id from cards c where c.id = l.${column} and (${visible.sql})) as ${column}`,
  );
  const { rows } = await sql.raw(
    `select l.bpmn_element_id, ${seen.join(', ')}, l.custom_fields
     from process_element_links l where l.flow_version_id = ?::uuid`,
    [...linkKinds.flatMap(() => visible.bindings), version.id] as never,
  );
  const links = new Map<string, LinkTargets>(
    rows.map(({ bpmn_element_id, ...targets }: LinkTargets & { bpmn_element_id: string }) => [
      bpmn_element_id,
      targets,
    ]),
  );
  return (await elementsOf(sql, version.content_id)).map((element) => ({
    ...element,
    ...links.get(element.bpmn_element_id),
  }));
}
