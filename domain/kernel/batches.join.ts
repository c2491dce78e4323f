import type { Sql } from '../../platform/database.ts';
import { EstateError, notFound } from '../../platform/errors.ts';
import type { BatchRef, Ctx } from './context.ts';

/**
 * The caller's open batch of this id, for a request that joins it.
 * @throws EstateError `not_found` for no batch and for others' batches, `wrong_state` for a closed one.
 */
export async function joinBatch(ctx: Ctx, id: string): Promise<BatchRef> {
  const row = ctx.caller.userId && (await find(ctx.db, id, ''));
  if (!row || row.actor_user_id !== ctx.caller.userId) throw notFound('batch', id);
  requireOpen(row);
  return { id: row.id, toolName: row.tool_name, joined: { dryRun: row.dry_run } };
}

/**
 * Keeps a joined batch from being closed before the transaction ends.
 * @throws EstateError `not_found`, `wrong_state`.
 */
export async function lockBatch(sql: Sql, { id }: BatchRef): Promise<void> {
  const row = await find(sql, id, 'for share');
  if (!row) throw notFound('batch', id);
  requireOpen(row);
}

interface FoundBatch {
  id: string;
  tool_name: string;
  actor_user_id: string | null;
  dry_run: boolean;
  committed_at: Date | null;
}

async function find(sql: Sql, id: string, lock: '' | 'for share'): Promise<FoundBatch | undefined> {
  const { rows } = await sql.raw(
    `select id, tool_name, actor_user_id, dry_run, committed_at from mutation_batches where id = ?::uuid ${lock}`,
    [id],
  );
  return rows[0];
}

function requireOpen(row: FoundBatch): void {
  if (row.committed_at !== null) throw new EstateError('wrong_state', 'The batch is closed.');
}
