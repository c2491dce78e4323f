import { queryRows, type Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { mergeWithin } from '../../inventory/cards/merge/merge.command.ts';
import type { FieldChoices } from '../../inventory/cards/merge/merge.fields.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { readCluster } from './duplicates.list.ts';
import type { ClusterStatus } from './duplicates.model.ts';
import { lockDecisions, pairsOf } from './duplicates.records.ts';
import { saveDecisions } from './duplicates.save.ts';
import { requireCluster, visibleCardsOf } from './duplicates.visible.ts';

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
 * @param read reads the answer after the decision, also in a dry run.
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
    const visible = await queryRows<{ id: string }>(sql, `select c.id from ${cards.sql}`, [
      [pair.left_id, pair.right_id],
      ...cards.bindings,
    ]);
    if (visible.length < 2) throw notFound('pair', id);
    await saveDecisions(work, ctx, pair.card_type, [pair], status);
    return await read(sql);
  });
}

/** The cards of a cluster that are merged. */
export interface ClusterMerge {
  /** By default the recommended one. */
  survivor_id?: string;
  /** By default all others that the caller sees. */
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
  return await command(
    ctx,
    async (work) => {
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
