import { AISDKError, APICallError } from '@ai-sdk/provider';
import { OutboundOverflow, OutboundRefusal } from '../../platform/outbound.ts';
import { retryAfterMs } from '../eol/eol.client.ts';
import { ModelFailure } from './models.types.ts';

/** One failed request: why, and whether another may fare better, after how long a wait. */
export interface FailedCall {
  failure: ModelFailure;
  again: boolean;
  /** What the provider asks for. */
  waitMs?: number;
  /** Whether the provider may have worked for it and charge the tokens. */
  charged: boolean;
}

const UNREACHED = 'The provider of AI cannot be reached.';

/** What an error of the SDK means. Nothing of what was sent, and no key, gets into the message. */
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
  if (timedOut) return fail('timeout', 'The provider of AI takes too long.', { again: true, charged: true });
  const refusal = causeOf(error, OutboundRefusal);
  // where the address leads is for those who keep the settings, and for the log
  if (refusal) {
    const failure = new ModelFailure('address', UNREACHED, { cause: refusal.message });
    return { failure, again: false, charged: false };
  }
  if (causeOf(error, OutboundOverflow)) {
    return fail('too_long', 'The answer of the provider of AI is longer than allowed.', { charged: true });
  }
  const call = causeOf(error, APICallError);
  const status = call?.statusCode;
  // an answer without what every answer has
  const unreadable = !call && AISDKError.isInstance(error);
  if (unreadable || (status !== undefined && status >= 200 && status < 300)) {
    return fail('unavailable', 'The provider of AI answers what cannot be read.', {
      again: true,
      charged: true,
    });
  }
  if (!call || status === undefined) {
    return fail('unavailable', UNREACHED, { again: true });
  }
  if (status === 401 || status === 403) return fail('unauthorised', 'The provider of AI refuses the key.');
  if (status === 429 || status >= 500 || status === 408) {
    const waitMs = retryAfterMs(call.responseHeaders?.['retry-after']);
    return fail(
      status === 429 ? 'rate_limited' : 'unavailable',
      status === 429
        ? 'The provider of AI asks to be asked less often.'
        : `The provider of AI answers ${status}.`,
      { again: true, ...(waitMs === undefined ? {} : { waitMs }) },
    );
  }
  if (isFiltered(call)) return fail('declined', 'The filter of the provider of AI refuses the question.');
  // the provider's own words may name its accounts and deployments: they are for the log and for those who keep the settings
  const failure = new ModelFailure(
    'rejected',
    `The provider of AI refuses the request with status ${status}.`,
    {
      cause: shortened(call.message, apiKey),
    },
  );
  return { failure, again: false, charged: false };
}

/** Azure answers 400 to what its filter does not like: it is about this question alone, not about how it was asked. */
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

/** The SDK's errors carry the whole request, which logs must not hold. */
function withoutRequest(error: unknown, apiKey: string): unknown {
  return error instanceof Error ? shortened(`${error.name}: ${error.message}`, apiKey) : undefined;
}

/** One line without the key, which is removed before the text is cut: half a key is a secret too. */
function shortened(text: string, apiKey: string): string {
  const line = text.replace(/\s+/g, ' ');
  return (apiKey === '' ? line : line.replaceAll(apiKey, '…')).slice(0, 300);
}
