import { randomUUID } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { embed, query, type Transaction } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Ctx, IdempotencyClaim, SealedResults } from './context.ts';

interface StoredResponse {
  status: number;
  headers: Record<string, string>;
  body: string | null;
}

/** After this time in milliseconds a request without a response is considered dead, even if its process lives. */
const ABANDONED_SECONDS = 120;

interface Claiming {
  key: string;
  /** A hash of the complete request. */
  hash: string;
  /** The process that executes the request, as named by `Signals`. */
  processNumber: number;
  seal: SealedResults | undefined;
}

/**
 * Claims a key of the caller for one request. If the process of an earlier request with the key crashed before its
 * response was stored, the claim is taken over with the results of the commands that had committed.
 * @returns the claim under which the request is executed, or the response of the first request.
 * @throws EstateError `idempotency_key_reused` for another request, `idempotency_in_progress` while the first one runs.
 */
export async function claimIdempotencyKey(
  ctx: Ctx,
  { key, hash, processNumber, seal }: Claiming,
): Promise<{ claim: IdempotencyClaim } | { kept: StoredResponse }> {
  const owner = ctx.caller.userId;
  const id = randomUUID();
  const expired = `k.created_at < now() - interval '24 hours'`;
  const rows = await query(ctx.db).rows`insert into idempotency_keys as k (user_id, key, request_hash, claim,
    holder) values (${owner}, ${key}, ${hash}, ${id}, ${processNumber})
     on conflict (user_id, key) do update set created_at = now(), request_hash = excluded.request_hash,
       claim = excluded.claim, holder = excluded.holder, status = null, headers = null, body = null,
       carried_out = k.carried_out and not ${embed(expired)},
       results = case when ${embed(expired)} then '{}' else k.results end
     where ${embed(expired)}
        or (k.status is null and k.request_hash = excluded.request_hash
            and (not k.carried_out or cardinality(k.results) > 0)
            and (k.created_at < now() - make_interval(secs => ${ABANDONED_SECONDS})
                 or (k.claim is not null and (k.holder is null or not process_alive(k.holder)))))
     returning results`;
  if (rows.length > 0) return { claim: { key, id, results: rows[0].results, seal } };
  const row = await ctx.db('idempotency_keys').where({ user_id: owner, key }).first();
  if (row && row.request_hash !== hash) {
    const detail = 'This Idempotency-Key was sent with another request, or with other rights.';
    throw new EstateError('idempotency_key_reused', detail);
  }
  if (row && row.status !== null) {
    return { kept: { status: row.status, headers: row.headers, body: row.body } };
  }
  if (row?.carried_out && row.results.length === 0) throw answerLost();
  const detail = 'The first request with this key is still running; try again in a moment.';
  throw new EstateError('idempotency_in_progress', detail, { headers: { 'retry-after': '2' } });
}

const claimed = (ctx: Ctx) =>
  ctx.db('idempotency_keys').where({ user_id: ctx.caller.userId, key: ctx.claim?.key, claim: ctx.claim?.id });

/** Stores the response under the request's key. */
export async function storeResponse(ctx: Ctx, answer: StoredResponse): Promise<void> {
  const headers = JSON.stringify(answer.headers);
  await claimed(ctx).update({ status: answer.status, headers, body: answer.body, results: '{}' });
}

/** Releases the key of a request without a storable response; writes of its committed commands are not repeated. */
export async function releaseIdempotencyKey(ctx: Ctx): Promise<void> {
  if ((await claimed(ctx).where({ carried_out: false }).delete()) === 0) {
    await claimed(ctx).update({ holder: null });
  }
}

/**
 * The result of the next command of a request, if an earlier request with the same key has committed it: the command
 * must not run again. Sets `ctx.position`.
 * @throws EstateError `idempotency_in_progress` if the command was committed but its result could not be stored.
 */
export async function earlierResult(
  ctx: Ctx,
  claim: IdempotencyClaim,
): Promise<{ result: unknown } | undefined> {
  const packed = claim.results.shift();
  if (packed === undefined) return undefined;
  if (packed === null) throw answerLost();
  const position = await query(ctx.db).value<number | null>`select max(position) from events`;
  ctx.position = position ?? undefined;
  return { result: unpack(packed, claim) };
}

/**
 * Stores a command's result in the command's own transaction.
 * @throws EstateError `idempotency_in_progress` if another request has taken the key over: nothing may be written.
 */
export async function storeResult(
  sql: Transaction,
  ctx: Ctx,
  claim: IdempotencyClaim,
  result: unknown,
): Promise<void> {
  const rowCount = await query(sql).count`update idempotency_keys set carried_out = true,
       results = array_append(results, ${pack(result, claim)}::bytea)
     where user_id = ${ctx.caller.userId} and key = ${claim.key} and claim = ${claim.id}`;
  if (rowCount === 0) throw takenOver();
}

/** The first request was executed, and its response cannot be created again. */
const answerLost = (): EstateError =>
  new EstateError(
    'idempotency_in_progress',
    'The first request with this key was carried out but its answer was lost; read the resource instead.',
  );

const takenOver = (): EstateError =>
  new EstateError(
    'idempotency_in_progress',
    'Another request with this key is being carried out in place of this one; try again in a moment.',
    { headers: { 'retry-after': '2' } },
  );

/** A result as bytes, in the form of the structured clone algorithm, so that dates and maps are preserved. */
function pack(result: unknown, { seal }: IdempotencyClaim): Buffer | null {
  let bytes: Buffer;
  try {
    bytes = serialize(result);
  } catch {
    return null;
  }
  return seal ? Buffer.from(seal.seal(bytes.toString('base64'))) : bytes;
}

function unpack(packed: Uint8Array, { seal }: IdempotencyClaim): unknown {
  const bytes = Buffer.from(packed);
  return deserialize(seal ? Buffer.from(seal.open(bytes.toString()), 'base64') : bytes);
}
