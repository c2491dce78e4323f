import { sha256 } from '../../../platform/crypto.ts';
import { type Outbound, OutboundRefusal } from '../../../platform/outbound.ts';
import { SmtpFailure } from './mail.failure.ts';

/** The client that logs in to the mail server by OAuth 2.0. */
export interface MailClient {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  /** Empty: none is sent. */
  scope: string;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** A token is renewed so long before it expires, in milliseconds. */
const EARLY_MS = 60_000;
/** The lifetime of a token whose response does not name one, in seconds. */
const LIFETIME_SECONDS = 300;

/** The last token: an installation has one mail server. */
let known: { client: string; token: string; renewAt: number } | undefined;

/**
 * An access token by the client credentials grant (RFC 6749, 4.4), kept until shortly before it expires.
 * @param renew whether the kept one was refused
 * @throws SmtpFailure `temporary`, with a message for administrators.
 */
export async function accessToken(
  outbound: Pick<Outbound, 'request'>,
  client: MailClient,
  renew: boolean,
): Promise<string> {
  const id = sha256(JSON.stringify(client));
  if (!renew && known?.client === id && known.renewAt > Date.now()) return known.token;
  const { token, seconds } = await requestToken(outbound, client);
  known = { client: id, token, renewAt: Date.now() + seconds * 1000 - EARLY_MS };
  return token;
}

async function requestToken(
  outbound: Pick<Outbound, 'request'>,
  { tokenUrl, clientId, clientSecret, scope }: MailClient,
): Promise<{ token: string; seconds: number }> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const answer = await outbound
    .request(tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(scope === '' ? form : { ...form, scope }).toString(),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    })
    .catch((error: unknown) => {
      throw error instanceof OutboundRefusal
        ? new SmtpFailure('temporary', error.message, error)
        : new SmtpFailure('temporary', 'The token endpoint of the mail server could not be reached.', error);
    });
  const { access_token, expires_in, error } = membersOf(answer.body);
  if (answer.status === 200 && typeof access_token === 'string' && access_token !== '') {
    const seconds = Number(expires_in);
    return { token: access_token, seconds: seconds > 0 ? seconds : LIFETIME_SECONDS };
  }
  // RFC 6749, 5.2: codes of letters and underscores; anything else may hold the secret
  const code = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? `${error}, ` : '';
  throw new SmtpFailure(
    'temporary',
    `The token endpoint of the mail server gave no token (${code}status ${answer.status}).`,
  );
}

function membersOf(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
