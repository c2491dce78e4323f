import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { seenCards, seenClusters, survivorOrder } from './duplicates.seen.ts';

const SEE = 'ai_analysis.view';

/** The capability that most of the cluster's cards are related to. */
const domain = `(select p.name from relations r join cards p on p.type = 'BusinessCapability' and p.status = 'ACTIVE'
    and p.id = case when r.source_id = any(d.card_ids) then r.target_id else r.source_id end
  where r.source_id = any(d.card_ids) or r.target_id = any(d.card_ids)
  group by p.id, p.name order by count(*) desc, p.name limit 1)`;

const percent = (value: string) => `round((100 * ${value})::numeric)`;

function clusterList(ctx: Ctx): ListSpec {
  const seen = seenCards(ctx, 'd.card_ids');
  const of = (what: string, order = 'c.name_key, c.id') => ({
    sql: `(select ${what.replace('$', `order by ${order}`)} from ${seen.sql})`,
    bindings: seen.bindings,
  });
  const best = {
    sql: `(select c.name from ${seen.sql} order by ${survivorOrder} limit 1)`,
    bindings: seen.bindings,
  };
  const seesDomain = may(ctx.caller, 'relations.view') && may(ctx.caller, 'inventory.view');
  return {
    name: 'duplicate-clusters',
    from: 'duplicate_clusters d',
    id: 'd.id',
    idType: 'uuid',
    sorts: {
      cohesion: { sql: 'd.cohesion', type: 'numeric', filled: true },
      analysed_at: { sql: 'd.found_at', type: 'timestamptz', filled: true },
      card_type: { sql: 'd.card_type', type: 'text', filled: true, immutable: true },
    },
    defaultSort: 'cohesion',
    defaultDir: 'desc',
    members: {
      id: 'd.id',
      cluster_name: best,
      card_type: 'd.card_type',
      functional_domain: seesDomain ? domain : 'null::text',
      card_ids: of('json_agg(c.id $)'),
      card_names: of('json_agg(c.name $)'),
      evidence: {
        sql: `format('%s cards; pairs of them stand for one thing with %s %%, all together with %s %%',
          (select count(*) from ${seen.sql}),
          concat_ws(' to ', ${percent('d.least_score')}, nullif(${percent('d.most_score')}, ${percent('d.least_score')})),
          ${percent('d.cohesion')})`,
        bindings: seen.bindings,
      },
      recommendation: {
        sql: `case d.status when 'dismissed' then 'Leave them as they are' else format('Merge into “%s”', ${best.sql}) end`,
        bindings: best.bindings,
      },
      status: 'd.status',
      cohesion: 'd.cohesion',
      run_id: 'd.run_id',
      decided_by: 'd.decided_by',
      decided_at: 'utc(d.decided_at)',
      analysed_at: 'utc(d.found_at)',
    },
  };
}

/** What clusters and pairs are asked for by. */
export interface DuplicateFilters {
  card_type?: string;
  status?: string;
  card_id?: string;
}

/** Clusters of which the caller sees at least two cards, the surest first. @throws EstateError `forbidden`. */
export async function listClusters(
  ctx: Ctx,
  { card_type, status, card_id, ...params }: ListParams & DuplicateFilters,
): Promise<JsonText> {
  requirePermission(ctx.caller, SEE);
  const where: Condition[] = [seenClusters(ctx)];
  if (card_type !== undefined) where.push({ sql: 'd.card_type = ?', bindings: [card_type] });
  if (status !== undefined) where.push({ sql: 'd.status = ?', bindings: [status] });
  if (card_id !== undefined) where.push({ sql: 'd.card_ids @> array[?::uuid]', bindings: [card_id] });
  return await runList(ctx.db, clusterList(ctx), where, params, { owner: ctx.caller.userId });
}

/** One cluster as the list has it. @throws EstateError `forbidden`, `not_found`. */
export async function readCluster(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requirePermission(ctx.caller, SEE);
  const item = projection(clusterList(ctx).members, undefined);
  const seen = seenClusters(ctx);
  const { rows } = await sql.raw(
    `select ${item.sql}::text as item from duplicate_clusters d where d.id = ? and ${seen.sql}`,
    [...item.bindings, id, ...seen.bindings] as never,
  );
  if (!rows[0]) throw notFound('cluster', id);
  return rows[0].item;
}

const decision = `case when not e.has_lapsed then e.decision end`;

/** A pair, over `p` with its decision `e`. */
export const pairMembers = {
  id: 'p.id',
  card_type: 'p.card_type',
  left_id: 'p.left_id',
  right_id: 'p.right_id',
  class: 'p.class',
  score: 'p.score',
  alone: 'p.alone',
  cluster_id: 'p.cluster_id',
  status: `coalesce(${decision}, 'pending')`,
  asked_again: 'coalesce(e.has_lapsed, false)',
  decided_by: 'e.decided_by',
  decided_at: 'utc(e.decided_at)',
};

export const pairsFrom = 'duplicate_pairs p left join duplicate_decisions e on e.id = p.id';

/** Pairs of which the caller sees both cards. SQL over `p`. */
export function seenPairs(ctx: Ctx): Condition {
  const seen = seenCards(ctx, 'array[p.left_id, p.right_id]');
  return { ...seen, sql: `(select count(*) from ${seen.sql}) = 2` };
}

const pairList: ListSpec = {
  name: 'duplicate-pairs',
  from: pairsFrom,
  id: 'p.id',
  idType: 'uuid',
  sorts: { score: { sql: 'p.score', type: 'numeric', filled: true } },
  defaultSort: 'score',
  defaultDir: 'desc',
  members: {
    ...pairMembers,
    left_name: '(select c.name from cards c where c.id = p.left_id)',
    right_name: '(select c.name from cards c where c.id = p.right_id)',
  },
};

/** Pairs of which the caller sees both cards, the likeliest first. @throws EstateError `forbidden`. */
export async function listPairs(
  ctx: Ctx,
  {
    card_type,
    status,
    card_id,
    class: verdict,
    ...params
  }: ListParams & DuplicateFilters & { class?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, SEE);
  const where: Condition[] = [seenPairs(ctx)];
  if (card_type !== undefined) where.push({ sql: 'p.card_type = ?', bindings: [card_type] });
  if (verdict !== undefined) where.push({ sql: 'p.class = ?', bindings: [verdict] });
  if (status !== undefined) where.push({ sql: `${pairMembers.status} = ?`, bindings: [status] });
  if (card_id !== undefined)
    where.push({ sql: '(p.left_id = ?::uuid or p.right_id = ?::uuid)', bindings: [card_id, card_id] });
  return await runList(ctx.db, pairList, where, params, { owner: ctx.caller.userId });
}
