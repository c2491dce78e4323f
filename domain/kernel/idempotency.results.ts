import { deserialize, serialize } from 'node:v8';
import type { Knex } from 'knex';
import { EstateError } from '../../platform/errors.ts';
import type { Ctx, IdempotencyClaim } from './context.ts';

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
  const { rows } = await ctx.db.raw('select max(position) as position from events');
  ctx.position = rows[0].position ?? undefined;
  return { result: unpack(packed, claim) };
}

/**
 * Stores a command's result in the command's own transaction.
 * @throws EstateError `idempotency_in_progress` if another request has taken the key over: nothing may be written.
 */
export async function storeResult(
  sql: Knex.Transaction,
  ctx: Ctx,
  claim: IdempotencyClaim,
  result: unknown,
): Promise<void> {
  const { rowCount } = await sql.raw(
    `update idempotency_keys set carried_out = true, results = array_append(results, ?::bytea)
     where user_id = ? and key = ? and claim = ?`,
    [pack(result, claim), ctx.caller.userId, claim.key, claim.id],
  );
  if (rowCount === 0) throw takenOver();
}

/** The first request was carried out, and its answer cannot be made again. */
export const answerLost = (): EstateError =>
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

/** A result as bytes, in the form of the structured clone algorithm, so that dates and maps stay what they are. */
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
