import { EstateError } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { etagOf } from '../../kernel/etag.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';

const bare = (value: unknown): string => etagOf(JSON.stringify(value)).slice(1, -1);

/** Two hashes: of the settings, and of the progress of deliveries. */
function hashes(webhook: JsonText): [string, string] {
  const { position, consecutive_failures, pending, last_delivered_at, ...set } = JSON.parse(webhook);
  return [bare(set), bare([position, consecutive_failures, pending, last_delivered_at])];
}

/** The ETag of a webhook, which changes with every delivery. */
export function webhookEtag(webhook: JsonText): string {
  return `"${hashes(webhook).join('.')}"`;
}

/**
 * Compares `If-Match` with the settings only: deliveries do not conflict with a change of settings.
 * @throws EstateError `precondition_failed`.
 */
export function checkWebhookMatch(ctx: Ctx, webhook: JsonText): void {
  if (!ctx.ifMatch) return;
  const [set] = hashes(webhook);
  if (ctx.ifMatch.some((tag) => tag === '*' || tag.startsWith(`"${set}.`))) return;
  throw new EstateError('precondition_failed', 'The webhook has changed since you read it; read it again.', {
    headers: { etag: webhookEtag(webhook) },
  });
}
