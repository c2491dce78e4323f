import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireDraftViewer } from './bpm.access.ts';
import type { FlowRow } from './bpm.model.ts';
import { compareVersions } from './elements.compare.ts';

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
