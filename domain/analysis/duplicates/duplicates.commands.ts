import type { Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { type MergeAnswer, mergeWithin } from '../../inventory/cards/merge/merge.command.ts';
import type { FieldChoices } from '../../inventory/cards/merge/merge.fields.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { readCluster } from './duplicates.list.ts';
import { lockDecisions } from './duplicates.lock.ts';
import { saveDecisions } from './duplicates.save.ts';
import { seenCards, seenCluster } from './duplicates.seen.ts';
import { pairsOf } from './duplicates.status.ts';
import type { ClusterStatus } from './duplicates.types.ts';

const MANAGE = 'ai_analysis.manage';

/**
 * Decides about all pairs of a cluster's cards: it stays so through later runs for as long as both cards of a pair say what
 * they say now. Of cards that the caller does not see nothing is said.
 * @returns the cluster as it is then, also where the write is only tried.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function decideCluster(ctx: Ctx, id: string, status: ClusterStatus): Promise<JsonText> {
  requirePermission(ctx.caller, MANAGE);
  return await command(ctx, async (work) => {
    const { card_type } = await seenCluster(work.sql, ctx, id);
    await lockDecisions(work.sql, card_type);
    const { cards } = await seenCluster(work.sql, ctx, id);
    await saveDecisions(work, ctx, card_type, pairsOf(cards), status);
    return await readCluster(ctx, id, work.sql);
  });
}

/**
 * Decides about one pair that was found.
 * @param tell what is answered, read as it is then, also where the write is only tried.
 * @throws EstateError `forbidden`, `not_found`.
 */
export async function decidePair<T>(
  ctx: Ctx,
  id: string,
  status: ClusterStatus,
  tell: (sql: Sql) => Promise<T>,
): Promise<T> {
  requirePermission(ctx.caller, MANAGE);
  return await command(ctx, async (work) => {
    const { sql } = work;
    const pair = await sql('duplicate_pairs').where({ id }).first('id', 'card_type', 'left_id', 'right_id');
    if (!pair) throw notFound('pair', id);
    await lockDecisions(sql, pair.card_type);
    const seen = seenCards(ctx, '?::uuid[]');
    const { rows } = await sql.raw(`select count(*)::int as n from ${seen.sql}`, [
      [pair.left_id, pair.right_id],
      ...seen.bindings,
    ] as never);
    if (rows[0].n < 2) throw notFound('pair', id);
    await saveDecisions(work, ctx, pair.card_type, [pair], status);
    return await tell(sql);
  });
}

/** Which cards of a cluster become one. */
export interface ClusterMerge {
  /** As recommended unless given. */
  survivor_id?: string;
  /** All others that the caller sees unless given. */
  merged_ids?: string[];
  fields?: FieldChoices;
  dry_run: boolean;
}

/**
 * Merges cards of a cluster as `mergeCards` does, and confirms that they stand for one thing. The merge can be undone as any
 * other.
 * @throws EstateError as `mergeCards`, `forbidden`, `not_found`; `validation_failed` for a card that is not in the cluster.
 */
export async function mergeCluster(ctx: Ctx, id: string, request: ClusterMerge): Promise<MergeAnswer> {
  requirePermission(ctx.caller, MANAGE);
  const { dry_run, fields } = request;
  return await command(
    ctx,
    async (work) => {
      const { card_type } = await seenCluster(work.sql, ctx, id);
      await lockDecisions(work.sql, card_type);
      const { cards } = await seenCluster(work.sql, ctx, id);
      const survivor_id = request.survivor_id?.toLowerCase() ?? cards[0]!;
      const merged_ids =
        request.merged_ids?.map((one) => one.toLowerCase()) ?? cards.filter((one) => one !== survivor_id);
      for (const [field, ids] of [
        ['survivor_id', [survivor_id]],
        ['merged_ids', merged_ids],
      ] as const)
        if (ids.some((one) => !cards.includes(one)))
          throw invalidField(field, 'not_in_cluster', 'names a card that is not in the cluster');
      await saveDecisions(
        work,
        ctx,
        card_type,
        pairsOf([...new Set([survivor_id, ...merged_ids])]),
        'confirmed',
      );
      return await mergeWithin(work, ctx, {
        survivor_id,
        merged_ids,
        dry_run,
        ...(fields ? { fields } : {}),
      });
    },
    { dryRun: dry_run },
  );
}
