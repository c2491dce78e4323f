import Type from 'typebox';
import { embed, fragment, query, queryRows, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { mergeWithin } from '../../inventory/cards/merge/merge.command.ts';
import type { FieldChoices } from '../../inventory/cards/merge/merge.fields.ts';
import { command, commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { rowChanges } from '../../kernel/events/row-changes.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows, updateRow } from '../../kernel/resources/rows.ts';
import { Uuid } from '../../kernel/shapes.ts';
import { comparedFields } from './duplicates.fields.ts';
import {
  type ClusterStatus,
  type DecisionRow,
  DuplicateCluster,
  DuplicateDecision,
  DuplicatePair,
  type PairDecision,
  Tier,
  tiers,
} from './duplicates.model.ts';
import { factsOf, lockDecisions, pairsOf, recordsOf, statusOf } from './duplicates.records.ts';
import { requireCluster, survivorOrder, visibleCardsOf, visibleClusters } from './duplicates.visible.ts';

const VIEW = 'ai_analysis.view';

/** The capability that most of the cluster's cards are related to. */
const domain = `(select p.name from relations r join cards p on p.type = 'BusinessCapability' and p.status = 'ACTIVE'
    and p.id = case when r.source_id = any(d.card_ids) then r.target_id else r.source_id end
  where r.source_id = any(d.card_ids) or r.target_id = any(d.card_ids)
  group by p.id, p.name order by count(*) desc, p.name limit 1)`;

const percent = (value: string) => `round((100 * ${value})::numeric)`;

function clusterMembers(ctx: Ctx): ListSpec['members'] {
  const cards = visibleCardsOf(ctx, 'd.card_ids');
  const of = (what: string, order = 'c.name_key, c.id') => ({
    sql: `(select ${what.replace('$', `order by ${order}`)} from ${cards.sql})`,
    bindings: cards.bindings,
  });
  const best = fragment`(select c.name from ${embed(cards)} order by ${embed(survivorOrder)} limit 1)`;
  const seesDomain = may(ctx.caller, 'relations.view') && may(ctx.caller, 'inventory.view');
  return {
    ...columnMembers('d', DuplicateCluster.shown),
    cluster_name: best,
    functional_domain: seesDomain ? domain : 'null::text',
    card_ids: of('json_agg(c.id $)'),
    card_names: of('json_agg(c.name $)'),
    evidence: fragment`format('%s cards; pairs of them represent the same object with %s %%, all together with %s %%',
          (select count(*) from ${embed(cards)}),
          concat_ws(' to ', ${embed(percent('d.least_score'))},
          nullif(${embed(percent('d.most_score'))}, ${embed(percent('d.least_score'))})),
          ${embed(percent('d.cohesion'))})`,
    recommendation: fragment`case d.status when 'dismissed' then 'Leave them as they are' else format('Merge into “%s”', ${embed(best)}) end`,
    analysed_at: 'utc(d.found_at)',
  };
}

const OfType = Type.String({ minLength: 1, maxLength: 100, description: 'Only cards of this type' });
const WithCard = Type.String({ ...Uuid, description: 'Only those that contain this card' });

/** Clusters with at least two visible cards, the most cohesive first. */
export const clusterList = defineList({
  name: 'duplicate-clusters',
  permission: VIEW,
  from: 'duplicate_clusters d',
  id: 'd.id',
  sorts: {
    cohesion: { sql: 'd.cohesion', type: 'numeric', filled: true },
    analysed_at: { sql: 'd.found_at', type: 'timestamptz', filled: true },
    card_type: { sql: 'd.card_type', type: 'text', filled: true, immutable: true },
  },
  defaultSort: 'cohesion',
  defaultDir: 'desc',
  filters: {
    card_type: [OfType, 'd.card_type = ?'],
    status: [DuplicateCluster.columns.status, 'd.status = ?'],
    card_id: [WithCard, 'd.card_ids @> array[?::uuid]'],
  },
  members: clusterMembers,
  where: (ctx) => [visibleClusters(ctx)],
});

/** One cluster as an item of the list. @throws EstateError `forbidden`, `not_found`. */
export async function readCluster(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requirePermission(ctx.caller, VIEW);
  return await readItem(sql, listFor(ctx, clusterList), 'cluster', id, [visibleClusters(ctx)]);
}

const decision = `case when not e.has_lapsed then e.decision end`;

const tier = `case when p.score >= ${tiers.certain} then 'certain' when p.score >= ${tiers.probable} then 'probable' else 'possible' end`;

/** A pair, over `p` with its decision `e`. */
export const pairMembers = {
  ...columnMembers('p', DuplicatePair.shown),
  tier,
  status: `coalesce(${decision}, 'pending')`,
  reopened: 'coalesce(e.has_lapsed, false)',
  decided_by: 'e.decided_by',
  decided_at: 'utc(e.decided_at)',
};

export const pairsFrom = 'duplicate_pairs p left join duplicate_decisions e on e.id = p.id';

/** Pairs whose cards are both visible. SQL over `p`. */
export function visiblePairs(ctx: Ctx): Condition {
  const cards = visibleCardsOf(ctx, 'array[p.left_id, p.right_id]');
  return { ...cards, sql: `(select count(*) from ${cards.sql}) = 2` };
}

/** Pairs whose cards are both visible, the most probable first. */
export const duplicatePairList = defineList({
  name: 'duplicate-pairs',
  permission: VIEW,
  from: pairsFrom,
  id: 'p.id',
  sorts: { score: { sql: 'p.score', type: 'numeric', filled: true } },
  defaultSort: 'score',
  defaultDir: 'desc',
  filters: {
    card_type: [OfType, 'p.card_type = ?'],
    status: [DuplicateCluster.columns.status, `${pairMembers.status} = ?`],
    card_id: [WithCard, '?::uuid in (p.left_id, p.right_id)'],
    tier: [{ ...Tier, description: 'Only pairs of this tier' }, `${tier} = ?`],
    class: [{ ...DuplicatePair.columns.class, description: 'Only pairs of this class' }, 'p.class = ?'],
  },
  members: {
    ...pairMembers,
    left_name: '(select c.name from cards c where c.id = p.left_id)',
    right_name: '(select c.name from cards c where c.id = p.right_id)',
  },
  where: (ctx) => [visiblePairs(ctx)],
});

const MANAGE = 'ai_analysis.manage';

/**
 * Decides about all pairs of the visible cards of a cluster. Later runs keep the decision while the compared values of
 * both cards of a pair stay equal.
 * @returns the cluster with the decision, also in a dry run.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function decideCluster(ctx: Ctx, id: string, status: ClusterStatus): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE);
  return await command(ctx, async (work) => {
    const { card_type } = await requireCluster(work.sql, ctx, id);
    await lockDecisions(work.sql, card_type);
    const { cards } = await requireCluster(work.sql, ctx, id);
    await saveDecisions(work, ctx, card_type, pairsOf(cards), status);
    return await readCluster(ctx, id, work.sql);
  });
}

/**
 * Decides about one pair.
 * @param read reads the response after the decision, also in a dry run.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function decidePair<T>(
  ctx: Ctx,
  id: string,
  status: ClusterStatus,
  read: (sql: Sql) => Promise<T>,
): Promise<T> {
  requirePermission(ctx.caller, MANAGE);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const pair = await sql('duplicate_pairs').where({ id }).first('id', 'card_type', 'left_id', 'right_id');
    if (!pair) throw notFound('pair', id);
    await lockDecisions(sql, pair.card_type);
    const cards = visibleCardsOf(ctx, '?::uuid[]');
    const bindings = [[pair.left_id, pair.right_id], ...cards.bindings];
    const visible = await queryRows<{ id: string }>(sql, `select c.id from ${cards.sql}`, bindings);
    if (visible.length < 2) throw notFound('pair', id);
    await saveDecisions(work, ctx, pair.card_type, [pair], status);
    return await read(sql);
  });
}

/** The cards of a cluster that are merged. */
interface ClusterMerge {
  /** By default the recommended one. */
  survivor_id?: string;
  /** By default all others that are visible to the caller. */
  merged_ids?: string[];
  fields?: FieldChoices;
  dry_run: boolean;
}

/**
 * Merges cards of a cluster like `mergeCards`, and confirms that they represent the same object. The merge can be undone.
 * @throws EstateError as `mergeCards`, `forbidden`, `not_found`; `validation_failed` for a card that is not in the cluster.
 */
export async function mergeCluster(ctx: Ctx, id: string, request: ClusterMerge) {
  requirePermission(ctx.caller, MANAGE);
  const { dry_run, fields } = request;
  return await commandWith(ctx, { dryRun: dry_run }, async (work) => {
    const { card_type } = await requireCluster(work.sql, ctx, id);
    await lockDecisions(work.sql, card_type);
    const { cards } = await requireCluster(work.sql, ctx, id);
    const survivor_id = request.survivor_id?.toLowerCase() ?? cards[0]!;
    const merged_ids =
      request.merged_ids?.map((one) => one.toLowerCase()) ?? cards.filter((one) => one !== survivor_id);
    for (const [field, ids] of [
      ['survivor_id', [survivor_id]],
      ['merged_ids', merged_ids],
    ] as const)
      if (ids.some((one) => !cards.includes(one)))
        throw invalidField(field, 'not_in_cluster', 'names a card that is not in the cluster');
    const pairs = pairsOf([...new Set([survivor_id, ...merged_ids])]);
    await saveDecisions(work, ctx, card_type, pairs, 'confirmed');
    return await mergeWithin(work, ctx, { survivor_id, merged_ids, dry_run, ...(fields ? { fields } : {}) });
  });
}

/** A pair that is to be decided. */
interface Pair {
  id: string;
  left_id: string;
  right_id: string;
}

/**
 * Stores the decision about pairs of existing cards of a type; `pending` deletes it. The status of their clusters is
 * updated. The decisions of the type must be locked.
 */
async function saveDecisions(
  work: Work,
  ctx: Ctx,
  type: string,
  pairs: readonly Pair[],
  status: ClusterStatus,
): Promise<void> {
  if (status === 'pending') await deleteDecisions(work, pairs);
  else await writeDecisions(work, ctx, type, pairs, status);
  await updateClusters(work, ctx, pairs);
}

const idsOf = (pairs: readonly Pair[]): string[] => pairs.map(({ id }) => id);

async function deleteDecisions(work: Work, pairs: readonly Pair[]): Promise<void> {
  const deleted = await deleteRows(work.sql, DuplicateDecision, (query) => query.whereIn('id', idsOf(pairs)));
  for (const row of deleted) {
    const data = { id: row.id, changes: rowChanges(row, null) };
    work.emit({ event_type: 'duplicate_decision.deleted', data });
  }
}

async function writeDecisions(
  work: Work,
  ctx: Ctx,
  type: string,
  pairs: readonly Pair[],
  decision: PairDecision,
): Promise<void> {
  const { sql, metamodel } = work;
  const fields = comparedFields(metamodel, metamodel.cardTypes.get(type)!);
  const ids = [...new Set(pairs.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const records = await recordsOf(sql, metamodel, type, fields, ids);
  const facts = new Map(records.map((record) => [record.id, factsOf(record, fields)]));
  const rows = pairs.map(({ id, left_id, right_id }) => ({
    id,
    card_type: type,
    left_id,
    right_id,
    decision,
    left_facts: facts.get(left_id)!,
    right_facts: facts.get(right_id)!,
    decided_by: ctx.caller.userId,
  }));
  const stored = await findRows(sql, DuplicateDecision, (query) =>
    query.whereIn('id', idsOf(pairs)).forUpdate(),
  );
  const before = new Map(stored.map((row) => [row.id, row]));
  const after = await query(sql).column<DecisionRow>`insert into duplicate_decisions as d
       (id, card_type, left_id, right_id, decision, left_facts, right_facts, score, decided_by)
     select r.id, r.card_type, r.left_id, r.right_id, r.decision, r.left_facts, r.right_facts, p.score,
     r.decided_by
     from jsonb_populate_recordset(null::duplicate_decisions, ${JSON.stringify(rows)}::jsonb) r
     left join duplicate_pairs p on p.id = r.id
     on conflict (id) do update set decision = excluded.decision, left_facts = excluded.left_facts,
       right_facts = excluded.right_facts, has_lapsed = false, decided_by = excluded.decided_by,
       decided_at = now(),
       -- the score before the first decision
       score = case when d.has_lapsed then excluded.score else d.score end
     where (d.decision, d.left_facts, d.right_facts, d.has_lapsed)
       is distinct from (excluded.decision, excluded.left_facts, excluded.right_facts, false)
     returning to_jsonb(d) as row`;
  for (const row of after) {
    const old = before.get(row.id) ?? null;
    const data = { id: row.id, changes: rowChanges(old, row) };
    work.emit({ event_type: old ? 'duplicate_decision.updated' : 'duplicate_decision.created', data });
  }
}

/** Updates the status of the clusters of pairs from the decisions. */
async function updateClusters(work: Work, ctx: Ctx, pairs: readonly Pair[]): Promise<void> {
  const { sql } = work;
  const ids = [...new Set(pairs.flatMap(({ left_id, right_id }) => [left_id, right_id]))];
  const clusters = await findRows(sql, DuplicateCluster, (query) =>
    query.whereRaw('card_ids && ?::uuid[]', [ids]).forUpdate(),
  );
  for (const before of clusters) {
    const { id, card_ids } = before;
    const decided: { id: string; decision: PairDecision }[] = await sql('duplicate_decisions')
      .whereIn('id', idsOf(pairsOf(card_ids)))
      .where({ has_lapsed: false })
      .select('id', 'decision');
    const status = statusOf(card_ids, new Map(decided.map((one) => [one.id, one.decision])));
    if (status === before.status) continue;
    const after = await updateRow(
      sql,
      DuplicateCluster,
      { id },
      {
        status,
        decided_by: status === 'pending' ? null : ctx.caller.userId,
        decided_at: status === 'pending' ? null : new Date().toISOString(),
      },
    );
    work.emit({ event_type: 'duplicate_cluster.updated', data: { id, changes: rowChanges(before, after) } });
  }
}
