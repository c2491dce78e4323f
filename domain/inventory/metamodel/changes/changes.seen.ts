import { EstateError } from '../../../../platform/errors.ts';
import { checkIfMatch, etagOf } from '../../../kernel/etag.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import type { ChangeRun } from './changes.types.ts';

/**
 * Compares the object as it stands under the lock with what the client, or the request that started the job, has seen.
 * @throws EstateError `precondition_failed`.
 */
export async function checkSeen(run: ChangeRun, read: () => Promise<JsonText>): Promise<void> {
  const text = await read();
  checkIfMatch(run.ctx, text);
  run.seen = etagOf(text);
  if (run.expected === null || run.expected === run.seen) return;
  throw new EstateError(
    'precondition_failed',
    'What was to be changed has changed since it was asked for; ask again.',
  );
}
