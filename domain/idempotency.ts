import { EstateError } from '../platform/errors.ts';
import type { Ctx } from './context.ts';

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** After this time a request that neither wrote nor answered is taken for dead. */
const ABANDONED_SECONDS = 120;

/**
 * Claims a key of the caller for one request.
 * @returns undefined when the request is to be carried out, else the answer of the first one.
 * @throws EstateError `idempotency_key_reused` for another request, `idempotency_in_progress` while the first
 * one runs, and also when it wrote but its answer was lost: it is never carried out a second time.
 */
export async function claimIdempotencyKey(
  ctx: Ctx,
  key: string,
  hash: string,
): Promise<KeptAnswer | undefined> {
  const owner = ctx.caller.userId;
  const { rowCount } = await ctx.db.raw(
    `insert into idempotency_keys as k (user_id, key, request_hash) values (?, ?, ?)
     on conflict (user_id, key) do update set created_at = now(), request_hash = excluded.request_hash,
       carried_out = false, status = null, headers = null, body = null
     where k.created_at < now() - interval '24 hours'
        or (k.status is null and not k.carried_out and k.request_hash = excluded.request_hash
            and k.created_at < now() - make_interval(secs => ?))`,
    [owner, key, hash, ABANDONED_SECONDS],
  );
  if (rowCount === 1) return undefined;
  const row = await ctx.db('idempotency_keys').where({ user_id: owner, key }).first();
  if (!row || row.request_hash !== hash) {
    throw new EstateError('idempotency_key_reused', 'This Idempotency-Key was sent with another request.');
  }
  if (row.status !== null) return { status: row.status, headers: row.headers, body: row.body };
  throw new EstateError(
    'idempotency_in_progress',
    row.carried_out
      ? 'The first request with this key was carried out but its answer was lost; read the resource instead.'
      : 'The first request with this key is still running; try again in a moment.',
    { headers: { 'retry-after': '2' } },
  );
}

/** Keeps the answer under the request's key. */
export async function keepAnswer(ctx: Ctx, answer: KeptAnswer): Promise<void> {
  await ctx
    .db('idempotency_keys')
    .where({ user_id: ctx.caller.userId, key: ctx.idempotencyKey })
    .update({ status: answer.status, headers: JSON.stringify(answer.headers), body: answer.body });
}

/** Frees the key after a failure of ours that wrote nothing, so that the client may try again. */
export async function releaseIdempotencyKey(ctx: Ctx): Promise<void> {
  await ctx
    .db('idempotency_keys')
    .where({ user_id: ctx.caller.userId, key: ctx.idempotencyKey, carried_out: false })
    .delete();
}
