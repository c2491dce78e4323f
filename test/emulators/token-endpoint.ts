import { type KeyObject, verify } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import { type Reaction, type Received, serveResponses } from './http.ts';

export interface TokenEndpoint {
  url: string;
  /** The forms of the requests, in order. */
  requests: Record<string, string>[];
  /** Whether a server would accept a token: the last one that was given. */
  accepts(token: string): boolean;
  /** Another reaction to all requests, such as a fault; undefined: a token for the right client. */
  fault: Reaction | undefined;
  close(): Promise<void>;
}

interface Client {
  id: string;
  secret: string;
  /** The public key of a client that signs assertions instead. */
  key?: KeyObject;
  /** Whether the secret is sent in the header. */
  isBasic?: true;
}

interface Options {
  tls?: ServerOptions;
  now?: () => number;
  /** Lifetime of tokens. */
  seconds?: number;
}

/**
 * The token endpoint of an authorization server: the client credentials grant with its errors (RFC 6749, 2.3.1, 4.4 and 5.2), and
 * clients that sign assertions (RFC 7523, 3).
 */
export async function startTokenEndpoint(
  client: Client,
  { tls, now = Date.now, seconds = 3_599 }: Options = {},
): Promise<TokenEndpoint> {
  const requests: Record<string, string>[] = [];
  const used = new Set<string>();
  const refusal = (status: number, error: string): Reaction => ({ status, body: { error } });

  const isClient = (form: Record<string, string>, authorization = ''): boolean => {
    if (client.key) return isAssertion(form, client.key);
    if (client.isBasic) return authorization === basic && form.client_secret === undefined;
    return form.client_id === client.id && form.client_secret === client.secret;
  };
  const formEncoded = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  const basic = `Basic ${btoa(`${formEncoded(client.id)}:${formEncoded(client.secret)}`)}`;

  const isAssertion = (form: Record<string, string>, key: KeyObject): boolean => {
    const [header = '', claims = '', signature = ''] = (form.client_assertion ?? '').split('.');
    const { alg } = partOf(header);
    const { iss, sub, aud, exp, jti } = partOf(claims);
    const isKnown = used.has(jti);
    used.add(jti);
    return (
      form.client_assertion_type === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' &&
      form.client_secret === undefined &&
      [iss, sub].every((name) => name === client.id) &&
      aud === endpoint.url &&
      exp * 1000 > now() &&
      exp * 1000 < now() + 600_000 &&
      !isKnown &&
      isSigned(alg, `${header}.${claims}`, key, Buffer.from(signature, 'base64url'))
    );
  };

  const react = ({ method, body, headers }: Received): Reaction => {
    const form = Object.fromEntries(new URLSearchParams(body));
    requests.push(form);
    if (endpoint.fault !== undefined) return endpoint.fault;
    if (method !== 'POST') return { status: 405 };
    if (!isClient(form, headers.authorization)) return refusal(401, 'invalid_client');
    if (form.grant_type !== 'client_credentials') return refusal(400, 'unsupported_grant_type');
    return {
      status: 200,
      body: { token_type: 'Bearer', expires_in: seconds, access_token: `token ${requests.length}` },
    };
  };
  const { origin, close } = await serveResponses(react, { tls, now });
  const endpoint: TokenEndpoint = {
    url: `${origin}/oauth2/v2.0/token`,
    requests,
    accepts: (token) => token === `token ${requests.length}`,
    fault: undefined,
    close,
  };
  return endpoint;
}

const partOf = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString() || '{}');

/** RFC 7518, 3.3 to 3.5; RFC 8037. */
function isSigned(algorithm: string, text: string, key: KeyObject, signature: Buffer): boolean {
  const options: Record<string, [string | null, object]> = {
    RS256: ['sha256', {}],
    // RSASSA-PSS with a salt of the length of the digest
    PS256: ['sha256', { padding: 6, saltLength: 32 }],
    ES256: ['sha256', { dsaEncoding: 'ieee-p1363' }],
    ES384: ['sha384', { dsaEncoding: 'ieee-p1363' }],
    EdDSA: [null, {}],
  };
  const [digest, more] = options[algorithm] ?? [];
  return digest !== undefined && verify(digest, Buffer.from(text), { key, ...more }, signature);
}
