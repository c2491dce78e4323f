import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireDraftViewer } from './bpm.access.ts';
import type { FlowRow } from './bpm.types.ts';
import { compareVersions } from './elements.compare.ts';

/**
 * How two versions of a flow differ, by element, with the links that they plan; as JSON.
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
  const named = (id: string): FlowRow => {
    const version = versions.find((known) => known.id === id.toLowerCase());
    if (!version) throw notFound('flow version', id);
    return version;
  };
  const [base, other] = [named(ids.base), named(ids.other)];
  const { counts, added, removed, changed } = await compareVersions(ctx, base, other);
  const told = ({ id, revision, status }: FlowRow) => ({ id, revision, status });
  const plain = JSON.stringify({
    base: told(base),
    other: told(other),
    counts,
    unchanged: counts.unchanged,
  });
  return `${plain.slice(0, -1)},"added":${added},"removed":${removed},"changed":${changed}}`;
}
