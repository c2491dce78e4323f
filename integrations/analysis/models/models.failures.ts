import { AISDKError, APICallError } from '@ai-sdk/provider';
import { OutboundOverflow, OutboundRefusal } from '../../../platform/outbound.ts';
import { retryAfterMs } from '../../governance/eol/eol.client.ts';
import { ModelFailure } from './models.types.ts';

/** One failed request: the reason, and whether and when it can be retried. */
export interface FailedCall {
  failure: ModelFailure;
  again: boolean;
  /** The provider's Retry-After. */
  waitMs?: number;
  /** Whether the provider may charge its tokens. */
  charged: boolean;
}

const UNREACHED = 'The AI provider cannot be reached.';

/** Maps an error of the SDK. The message never contains request data or the key. */
export function readFailure(
  error: unknown,
  { timedOut, apiKey }: { timedOut: boolean; apiKey: string },
): FailedCall {
  const fail = (
    kind: ModelFailure['kind'],
    message: string,
    more: Partial<Omit<FailedCall, 'failure'>> = {},
  ): FailedCall => ({
    failure: new ModelFailure(kind, message, { cause: withoutRequest(error, apiKey) }),
    again: false,
    charged: false,
    ...more,
  });
  if (timedOut)
    return fail('timeout', 'The AI provider does not respond in time.', { again: true, charged: true });
  const refusal = causeOf(error, OutboundRefusal);
  // the address is only for administrators and the log
  if (refusal) {
    const failure = new ModelFailure('address', UNREACHED, { cause: refusal.message });
    return { failure, again: false, charged: false };
  }
  if (causeOf(error, OutboundOverflow)) {
    return fail('too_long', 'The response of the AI provider is longer than allowed.', { charged: true });
  }
  const call = causeOf(error, APICallError);
  const status = call?.statusCode;
  // a response without mandatory members
  const unreadable = !call && AISDKError.isInstance(error);
  if (unreadable || (status !== undefined && status >= 200 && status < 300)) {
    const message = 'The response of the AI provider cannot be parsed.';
    return fail('unavailable', message, { again: true, charged: true });
  }
  if (!call || status === undefined) return fail('unavailable', UNREACHED, { again: true });
  if (status === 401 || status === 403) return fail('unauthorised', 'The AI provider refuses the key.');
  if (status === 429 || status >= 500 || status === 408) {
    const waitMs = retryAfterMs(call.responseHeaders?.['retry-after']);
    return fail(
      status === 429 ? 'rate_limited' : 'unavailable',
      status === 429
        ? 'The AI provider limits the request rate.'
        : `The AI provider responds with ${status}.`,
      { again: true, ...(waitMs === undefined ? {} : { waitMs }) },
    );
  }
  if (isFiltered(call)) return fail('declined', 'The content filter of the AI provider refuses the request.');
  // the provider's text may contain accounts and deployments: it is only for administrators and the log
  const failure = new ModelFailure('rejected', `The AI provider refuses the request with status ${status}.`, {
    cause: shortened(call.message, apiKey),
  });
  return { failure, again: false, charged: false };
}

/** Azure responds with 400 if its content filter refuses a request; this does not affect other requests. */
function isFiltered({ statusCode, responseBody }: APICallError): boolean {
  if (statusCode !== 400) return false;
  try {
    return JSON.parse(responseBody ?? '').error?.code === 'content_filter';
  } catch {
    return false;
  }
}

function causeOf<E extends Error>(
  error: unknown,
  kind: (new (...given: never[]) => E) | typeof APICallError,
): E | undefined {
  let present = error;
  for (let depth = 0; present instanceof Error && depth < 6; depth += 1) {
    if (present instanceof kind) return present as E;
    present = present.cause;
  }
  return undefined;
}

/** The SDK's errors contain the complete request, which must not be logged. */
function withoutRequest(error: unknown, apiKey: string): unknown {
  return error instanceof Error ? shortened(`${error.name}: ${error.message}`, apiKey) : undefined;
}

/** One line without the key, which is removed before truncation, since a part of a key is secret too. */
function shortened(text: string, apiKey: string): string {
  const line = text.replace(/\s+/g, ' ');
  return (apiKey === '' ? line : line.replaceAll(apiKey, '…')).slice(0, 300);
}
