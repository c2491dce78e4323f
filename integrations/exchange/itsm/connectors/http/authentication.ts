import { constants, createHash, createPrivateKey, randomUUID, sign, X509Certificate } from 'node:crypto';
import {
  type ApiKeyPlace,
  algorithmsOf,
  type OAuthClient,
  type SigningAlgorithm,
} from '../../../../../domain/exchange/itsm/connections.auth.ts';
import { sha256 } from '../../../../../platform/crypto.ts';
import { createTokenCache, requestToken, slotOf } from '../tokens.ts';
import { accountNameOf, basicAuth, type PlainAuth, type Session, type Transport } from '../transport.ts';

/** How requests for lists are authenticated. `secret` is the client secret, or the key that signs assertions. */
export type HttpAuth =
  | PlainAuth
  | { kind: 'api_key'; key: string; place: ApiKeyPlace }
  | { kind: 'oauth'; client: OAuthClient; clientId: string; secret: string };

/** The name of an account for its rate limit. */
export function httpAccountOf(auth: HttpAuth): string {
  if (auth.kind === 'api_key') return accountNameOf({ kind: 'token', token: auth.key });
  return auth.kind === 'oauth' ? `client ${sha256(auth.clientId).slice(0, 16)}` : accountNameOf(auth);
}

/** @param timeoutMs of a token request. */
export function createHttpSession(
  auth: HttpAuth,
  { timeoutMs, ...around }: Pick<Transport, 'outbound' | 'clock' | 'signal'> & { timeoutMs: number },
): Session {
  switch (auth.kind) {
    case 'none':
      return { authorization: async () => '' };
    case 'basic':
      return {
        authorization: async () => basicAuth(auth.username, auth.password),
        secrets: () => [auth.password],
      };
    case 'token':
      return { authorization: async () => `Bearer ${auth.token}` };
    case 'api_key': {
      const { in: place, name, prefix } = auth.place;
      const sent = prefix === undefined ? auth.key : `${prefix} ${auth.key}`;
      return { authorization: async () => sent, place: { in: place, name }, secrets: () => [auth.key] };
    }
    case 'oauth':
      return createClientSession(auth, { timeoutMs, ...around });
  }
}

/** The client credentials grant (RFC 6749, 4.4). All connections of a process share the token of a client. */
function createClientSession(
  auth: HttpAuth & { kind: 'oauth' },
  { timeoutMs, ...around }: Pick<Transport, 'outbound' | 'clock' | 'signal'> & { timeoutMs: number },
): Session {
  const { client, clientId, secret } = auth;
  let assertion: string | undefined;
  const tokens = createTokenCache(
    around.clock,
    async () => {
      const credentials = credentialsOf(auth, around.clock.now());
      assertion = credentials.form.client_assertion;
      const form: Record<string, string> = {
        grant_type: 'client_credentials',
        ...(client.scope === undefined ? {} : { scope: client.scope }),
        ...client.parameters,
        ...credentials.form,
      };
      const { headers = {} } = credentials;
      return await requestToken(around, { url: client.token_url, form, headers, timeoutMs });
    },
    slotOf(auth),
  );
  return {
    authorization: (stale) => tokens.header(stale),
    // a new token that is refused too will not be accepted later
    maxRefusals: 2,
    secrets: () => [
      secret,
      formEncoded(secret),
      assertion,
      tokens.current()?.header.replace(/^Bearer /, ''),
      ...(client.client_auth === 'client_secret_basic'
        ? [basicOf(clientId, secret).slice('Basic '.length)]
        : []),
    ],
  };
}

/** How the client authenticates: RFC 6749, 2.3.1, or RFC 7523, 2.2. */
function credentialsOf(
  { client, clientId, secret }: HttpAuth & { kind: 'oauth' },
  now: number,
): { form: Record<string, string>; headers?: Record<string, string> } {
  switch (client.client_auth) {
    case 'client_secret_basic':
      return { form: {}, headers: { authorization: basicOf(clientId, secret) } };
    case 'client_secret_post':
      return { form: { client_id: clientId, client_secret: secret } };
    case 'private_key_jwt':
      return {
        form: {
          client_id: clientId,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertionOf(client, clientId, secret, now),
        },
      };
  }
}

/** RFC 6749, appendix B. */
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
const basicOf = (id: string, secret: string): string => basicAuth(formEncoded(id), formEncoded(secret));

/** How long an assertion is valid; servers refuse long ones. */
const ASSERTION_SECONDS = 300;

/** A signed assertion of the client about itself (RFC 7523, 3), valid once. @param now milliseconds. */
function assertionOf(client: OAuthClient, clientId: string, pem: string, now: number): string {
  const { token_url, assertion_audience, key_id, certificate } = client;
  const key = createPrivateKey(pem);
  const algorithm = client.algorithm ?? algorithmsOf(key)![0]!;
  const header = {
    alg: algorithm,
    typ: 'JWT',
    ...(key_id === undefined ? {} : { kid: key_id }),
    ...(certificate === undefined ? {} : { 'x5t#S256': thumbprintOf(certificate) }),
  };
  const seconds = Math.floor(now / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: assertion_audience ?? token_url,
    jti: randomUUID(),
    iat: seconds,
    nbf: seconds,
    exp: seconds + ASSERTION_SECONDS,
  };
  const signed = `${partOf(header)}.${partOf(claims)}`;
  const signature = sign(digests[algorithm], Buffer.from(signed), {
    key,
    ...(algorithm === 'PS256'
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}),
    ...(algorithm.startsWith('ES') ? { dsaEncoding: 'ieee-p1363' as const } : {}),
  });
  return `${signed}.${signature.toString('base64url')}`;
}

const digests: Record<SigningAlgorithm, string | null> = {
  RS256: 'sha256',
  PS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  EdDSA: null,
};

const partOf = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const thumbprintOf = (pem: string): string =>
  createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url');
