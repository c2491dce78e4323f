import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { equalTo } from '../runs/analysis.lists.ts';
import { DuplicateCluster, DuplicatePair } from './duplicates.model.ts';
import { survivorOrder, visibleCardsOf, visibleClusters } from './duplicates.visible.ts';

const VIEW = 'ai_analysis.view';

/** The capability that most of the cluster's cards are related to. */
const domain = `(select p.name from relations r join cards p on p.type = 'BusinessCapability' and p.status = 'ACTIVE'
    and p.id = case when r.source_id = any(d.card_ids) then r.target_id else r.source_id end
  where r.source_id = any(d.card_ids) or r.target_id = any(d.card_ids)
  group by p.id, p.name order by count(*) desc, p.name limit 1)`;

const percent = (value: string) => `round((100 * ${value})::numeric)`;

export const clusterSorts: Record<string, SortField> = {
  cohesion: { sql: 'd.cohesion', type: 'numeric', filled: true },
  analysed_at: { sql: 'd.found_at', type: 'timestamptz', filled: true },
  card_type: { sql: 'd.card_type', type: 'text', filled: true, immutable: true },
};

const {
  least_score: _least,
  most_score: _most,
  found_at: _found,
  created_at: _created,
  ...clusterColumns
} = columnMembers('d', DuplicateCluster);

function clusterList(ctx: Ctx): ListSpec {
  const cards = visibleCardsOf(ctx, 'd.card_ids');
  const of = (what: string, order = 'c.name_key, c.id') => ({
    sql: `(select ${what.replace('$', `order by ${order}`)} from ${cards.sql})`,
    bindings: cards.bindings,
  });
  const best = {
    sql: `(select c.name from ${cards.sql} order by ${survivorOrder} limit 1)`,
    bindings: cards.bindings,
  };
  const seesDomain = may(ctx.caller, 'relations.view') && may(ctx.caller, 'inventory.view');
  return {
    name: 'duplicate-clusters',
    from: 'duplicate_clusters d',
    id: 'd.id',
    sorts: clusterSorts,
    defaultSort: 'cohesion',
    defaultDir: 'desc',
    members: {
      ...clusterColumns,
      cluster_name: best,
      functional_domain: seesDomain ? domain : 'null::text',
      card_ids: of('json_agg(c.id $)'),
      card_names: of('json_agg(c.name $)'),
      evidence: {
        sql: `format('%s cards; pairs of them represent the same object with %s %%, all together with %s %%',
          (select count(*) from ${cards.sql}),
          concat_ws(' to ', ${percent('d.least_score')}, nullif(${percent('d.most_score')}, ${percent('d.least_score')})),
          ${percent('d.cohesion')})`,
        bindings: cards.bindings,
      },
      recommendation: {
        sql: `case d.status when 'dismissed' then 'Leave them as they are' else format('Merge into “%s”', ${best.sql}) end`,
        bindings: best.bindings,
      },
      analysed_at: 'utc(d.found_at)',
    },
  };
}

export const clusterFilters = {
  card_type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only cards of this type' }),
  ),
  status: Type.Optional(DuplicateCluster.columns.status),
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those that contain this card' })),
};
type ClusterFilter = StaticOf<typeof clusterFilters>;
export const pairFilters = {
  ...clusterFilters,
  class: Type.Optional({ ...DuplicatePair.columns.class, description: 'Only pairs of this class' }),
};

/** Clusters with at least two visible cards, the most cohesive first. @throws EstateError `forbidden`. */
export async function listClusters(
  ctx: Ctx,
  { card_type, status, card_id, ...params }: ListParams & ClusterFilter,
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW);
  const where = [visibleClusters(ctx), ...equalTo({ 'd.card_type': card_type, 'd.status': status })];
  if (card_id !== undefined) where.push({ sql: 'd.card_ids @> array[?::uuid]', bindings: [card_id] });
  return await runList(ctx.db, clusterList(ctx), where, params, { owner: ctx.caller.userId });
}

/** One cluster as an item of the list. @throws EstateError `forbidden`, `not_found`. */
export async function readCluster(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW);
  return await readItem(sql, clusterList(ctx), 'cluster', id, [visibleClusters(ctx)]);
}

const decision = `case when not e.has_lapsed then e.decision end`;

const {
  similarities: _similarities,
  bits: _bits,
  model_id: _model,
  ...pairColumns
} = columnMembers('p', DuplicatePair);

/** A pair, over `p` with its decision `e`. */
export const pairMembers = {
  ...pairColumns,
  status: `coalesce(${decision}, 'pending')`,
  asked_again: 'coalesce(e.has_lapsed, false)',
  decided_by: 'e.decided_by',
  decided_at: 'utc(e.decided_at)',
};

export const pairsFrom = 'duplicate_pairs p left join duplicate_decisions e on e.id = p.id';

/** Pairs whose cards are both visible. SQL over `p`. */
export function visiblePairs(ctx: Ctx): Condition {
  const cards = visibleCardsOf(ctx, 'array[p.left_id, p.right_id]');
  return { ...cards, sql: `(select count(*) from ${cards.sql}) = 2` };
}

export const pairSorts: Record<string, SortField> = {
  score: { sql: 'p.score', type: 'numeric', filled: true },
};

const pairList: ListSpec = {
  name: 'duplicate-pairs',
  from: pairsFrom,
  id: 'p.id',
  sorts: pairSorts,
  defaultSort: 'score',
  defaultDir: 'desc',
  members: {
    ...pairMembers,
    left_name: '(select c.name from cards c where c.id = p.left_id)',
    right_name: '(select c.name from cards c where c.id = p.right_id)',
  },
};

/** Pairs whose cards are both visible, the most probable first. @throws EstateError `forbidden`. */
export async function listPairs(
  ctx: Ctx,
  { card_type, status, card_id, class: wanted, ...params }: ListParams & StaticOf<typeof pairFilters>,
): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW);
  const equal = { 'p.card_type': card_type, 'p.class': wanted, [pairMembers.status]: status };
  const where = [visiblePairs(ctx), ...equalTo(equal)];
  if (card_id !== undefined)
    where.push({ sql: '(p.left_id = ?::uuid or p.right_id = ?::uuid)', bindings: [card_id, card_id] });
  return await runList(ctx.db, pairList, where, params, { owner: ctx.caller.userId });
}
