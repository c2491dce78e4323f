import {
  pairMembers,
  pairsFrom,
  readCluster,
  visiblePairs,
} from '../../../domain/analysis/duplicates/duplicates.commands.ts';
import { effectOf, type MergeEffect } from '../../../domain/analysis/duplicates/duplicates.effect.ts';
import {
  attributeOf,
  type ComparedField,
  labelOf,
} from '../../../domain/analysis/duplicates/duplicates.fields.ts';
import { type CardRecord, recordsOf } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import { requireCluster } from '../../../domain/analysis/duplicates/duplicates.visible.ts';
import { visibleAttributes } from '../../../domain/inventory/cards/cards.projection.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { projection } from '../../../domain/kernel/lists/lists.sql.ts';
import { may, requirePermission, userWithinScope } from '../../../domain/kernel/permissions/policy.ts';
import { queryRows, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Vocabulary } from '../matching/matching.types.ts';
import { aspectsOf, type ComparedAspect, reasonsOf } from '../matching/reasons.ts';
import type { Found } from './find.types.ts';
import { readVocabulary } from './vocabulary.ts';

/** A pair with the reasons for and against it, the strongest first. */
export interface ExplainedPair {
  id: string;
  left_id: string;
  right_id: string;
  class: 'match' | 'possible';
  score: number;
  status: string;
  reasons: string[];
  [member: string]: unknown;
}

/** A cluster with its cards, pairs and the effect of a merge. */
export interface ClusterDetail {
  cards: unknown[];
  pairs: ExplainedPair[];
  effect: MergeEffect;
  [member: string]: unknown;
}

/**
 * Reads one cluster: its visible cards, the recommended survivor first; their pairs with reasons; and a preview of the merge.
 * Without costs if the caller may not see them.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function explainCluster(ctx: Ctx, id: string): Promise<ClusterDetail> {
  const cluster = JSON.parse(await readCluster(ctx, id));
  const { cards } = await requireCluster(ctx.db, ctx, id);
  const [survivor, ...others] = cards;
  return {
    ...cluster,
    cards: await cardsOf(ctx, cards),
    pairs: await pairsAmong(ctx.db, ctx, cards),
    effect: await effectOf(ctx.db, ctx, survivor!, others),
  };
}

/**
 * Reads one pair with its reasons.
 * @param sql the open transaction, if any.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function explainPair(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<ExplainedPair> {
  requirePermission(ctx.caller, 'ai_analysis.view');
  const pair = await sql('duplicate_pairs').where({ id }).first('left_id', 'right_id');
  const found = pair && (await pairsAmong(sql, ctx, [pair.left_id, pair.right_id]))[0];
  if (!found) throw notFound('pair', id);
  return found;
}

async function cardsOf(ctx: Ctx, ids: readonly string[]): Promise<unknown[]> {
  const attributes = visibleAttributes(ctx);
  return await queryRows(
    ctx.db,
    `select c.id, c.name, c.external_id, c.subtype, c.approval_status, c.data_quality::double precision as data_quality,
       case when ? then (select count(*)::int from relations r where r.source_id = c.id or r.target_id = c.id) end as relations,
       case when ? then (select count(distinct s.user_id)::int from stakeholders s where s.card_id = c.id) end as people,
       (a.seen ->> 'costTotalAnnual')::double precision as cost, utc(c.created_at) as created_at
     from cards c, lateral (select ${attributes.sql} as seen) a
     where c.id = any(?::uuid[]) order by array_position(?::uuid[], c.id)`,
    [
      may(ctx.caller, 'relations.view'),
      may(ctx.caller, 'stakeholders.view'),
      ...attributes.bindings,
      ids,
      ids,
    ],
  );
}

interface StoredPair extends ExplainedPair {
  card_type: string;
  alone: number;
  similarities: (number | null)[];
  bits: number[];
  fields: ComparedField[];
  weights: Found['weights'];
  vocabulary: Vocabulary | undefined;
}

async function pairsAmong(sql: Sql, ctx: Ctx, ids: readonly string[]): Promise<ExplainedPair[]> {
  const item = projection(pairMembers, undefined);
  const visible = visiblePairs(ctx);
  const rows = await queryRows<
    Omit<StoredPair, keyof ExplainedPair | 'vocabulary'> & { pair: ExplainedPair }
  >(
    sql,
    `select ${item.sql} as pair, p.similarities, p.bits, m.fields, m.weights
     from ${pairsFrom} join duplicate_models m on m.id = p.model_id
     where p.left_id = any(?::uuid[]) and p.right_id = any(?::uuid[]) and ${visible.sql}
     order by p.score desc, p.id`,
    [...item.bindings, ids, ids, ...visible.bindings],
  );
  if (rows.length === 0) return [];
  const pairs = rows.map(({ pair, ...more }) => ({ ...pair, ...more }) as StoredPair);
  const { card_type, fields } = pairs[0]!;
  const records = await recordsOf(sql, ctx.metamodel, card_type, fields, ids);
  const byId = new Map(records.map((record) => [record.id, record]));
  const open = await openCosts(sql, ctx, card_type, ids);
  const vocabulary = await readVocabulary(sql);
  return pairs.map((pair) => {
    const { similarities, bits, fields: _, weights, ...shown } = pair;
    const prior_bits = Math.round(100 * weights.priorBits) / 100;
    return { ...shown, prior_bits, ...explanation(ctx, { ...pair, vocabulary }, byId, open) };
  });
}

/** The cards of which the caller sees the costs. */
async function openCosts(sql: Sql, ctx: Ctx, type: string, ids: readonly string[]): Promise<Set<string>> {
  if (may(ctx.caller, 'costs.view') || ctx.metamodel.cardTypes.get(type)?.costKeys.length === 0)
    return new Set(ids);
  const rows = await sql('stakeholders')
    .whereIn('card_id', [...ids])
    .where({ user_id: userWithinScope(ctx.caller, 'costs.view') })
    .distinct('card_id');
  return new Set(rows.map(({ card_id }: { card_id: string }) => card_id));
}

/** Why a pair is classified so, without what the caller may not see. */
function explanation(
  ctx: Ctx,
  pair: StoredPair,
  records: ReadonlyMap<string, CardRecord>,
  open: ReadonlySet<string>,
): { reasons: string[]; aspects: ComparedAspect[]; differing: string[] } {
  const [left, right] = [records.get(pair.left_id), records.get(pair.right_id)];
  if (!left || !right) return { reasons: [], aspects: [], differing: [] };
  const type = ctx.metamodel.cardTypes.get(pair.card_type)!;
  const seesCosts = open.has(left.id) && open.has(right.id);
  const seesRelations = may(ctx.caller, 'relations.view');
  const evidence = pair.weights.order.flatMap((aspect, at) => {
    const key = attributeOf(aspect);
    if (key !== undefined && !seesCosts && type.costKeys.includes(key)) return [];
    if ((aspect === 'vendor' || aspect === 'relations') && !seesRelations) return [];
    return [{ aspect, similarity: pair.similarities[at] ?? null, bits: pair.bits[at]! }];
  });
  const label = (field: string) => labelOf(type, field);
  const aspects = aspectsOf({ evidence }, left, right, pair, label);
  return {
    reasons: reasonsOf({ ...pair, left: left.id, right: right.id, evidence }, left, right, pair, label),
    aspects,
    differing: aspects.flatMap(({ aspect, left, right }) =>
      left !== null && left !== right ? [aspect] : [],
    ),
  };
}
