import * as oidc from 'openid-client';
import type { SettingValues } from '../../../domain/kernel/settings/settings.read.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { Outbound } from '../../../platform/outbound.ts';
import { issuerOf } from './sso.issuer.ts';

type SsoSettings = SettingValues['sso'];

/** Timeout of one response of the provider. */
const TIMEOUT_SECONDS = 5;
/** Allowed clock skew of the provider. */
const TOLERANCE_SECONDS = 60;
/** Maximum bytes of a response. */
const MAX_BYTES = 1024 * 1024;

/** Configuration for requests to a provider. */
export interface ProviderAccess {
  outbound: Outbound;
  sso: SsoSettings;
  clientSecret: string;
}

/** Secrets that the service stores between the two steps of a login. */
export interface Handshake {
  nonce: string;
  verifier: string;
  redirect_uri: string;
}

/** The parameters of the redirect from the provider. */
export interface Redirected {
  code: string;
  state: string;
  iss?: string;
}

/** Creates the authorization URL, and the secrets to verify the redirect. */
export async function createAuthorizationUrl(
  access: ProviderAccess,
  redirectUri: string,
): Promise<{ url: string; state: string; handshake: Handshake }> {
  const config = await discover(access);
  const verifier = oidc.randomPKCECodeVerifier();
  const handshake = { nonce: oidc.randomNonce(), verifier, redirect_uri: redirectUri };
  const state = oidc.randomState();
  const { sso } = access;
  const url = oidc.buildAuthorizationUrl(config, {
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopesOf(config),
    state,
    nonce: handshake.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(sso.provider === 'google' && sso.domain !== '' ? { hd: sso.domain } : {}),
  });
  return { url: url.href, state, handshake };
}

/**
 * Exchanges the code, checks the ID token (signature, issuer, audience, nonce, times) and reads the claims.
 * @throws EstateError `invalid_credentials` if the provider or a check refuses, `upstream_failed` for an invalid response of
 * the provider.
 */
export async function exchangeCode(
  access: ProviderAccess,
  handshake: Handshake,
  answer: Redirected,
): Promise<oidc.IDToken> {
  const config = await discover(access);
  const url = new URL(handshake.redirect_uri);
  url.searchParams.set('code', answer.code);
  url.searchParams.set('state', answer.state);
  if (answer.iss !== undefined) url.searchParams.set('iss', answer.iss);
  return await withClientErrors(async () => {
    const tokens = await oidc.authorizationCodeGrant(config, url, {
      expectedState: answer.state,
      expectedNonce: handshake.nonce,
      pkceCodeVerifier: handshake.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    // the library checks `azp` only where a token has several audiences (OpenID Connect Core 1.0, 3.1.3.7)
    if (claims.azp !== undefined && claims.azp !== access.sso.client_id) throw notConfirmed();
    const complete = claims.email !== undefined && claims[access.sso.group_claim] !== undefined;
    if (complete || !config.serverMetadata().userinfo_endpoint) return claims;
    const more = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  });
}

/**
 * Reads the discovery document. It is not cached between logins, so that rotated keys are used immediately.
 */
async function discover(access: ProviderAccess): Promise<oidc.Configuration> {
  const { sso, clientSecret } = access;
  const options: oidc.DiscoveryRequestOptions = {
    timeout: TIMEOUT_SECONDS,
    [oidc.customFetch]: guardedFetch(access.outbound),
    // the guard checks the addresses, and allows http only for those listed by name
    execute: [oidc.allowInsecureRequests],
  };
  const metadata = { [oidc.clockTolerance]: TOLERANCE_SECONDS };
  const found = await withClientErrors(() =>
    oidc.discovery(new URL(issuerOf(sso)), sso.client_id, metadata, undefined, options),
  );
  const known = found.serverMetadata();
  const config = new oidc.Configuration(
    { ...known, ...overridden(sso) },
    sso.client_id,
    metadata,
    authenticationOf(known, clientSecret),
  );
  config.timeout = TIMEOUT_SECONDS;
  config[oidc.customFetch] = guardedFetch(access.outbound);
  oidc.allowInsecureRequests(config);
  // the ID token's signature is checked as well, although it is read directly from the provider
  oidc.enableNonRepudiationChecks(config);
  return config;
}

function overridden(sso: SsoSettings): Record<string, string> {
  const given = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;
  return Object.fromEntries(given.filter((name) => sso[name] !== '').map((name) => [name, sso[name]]));
}

function authenticationOf(known: oidc.ServerMetadata, secret: string): oidc.ClientAuth {
  if (secret === '') return oidc.None();
  // RFC 8414: the default is client_secret_basic
  const methods = known.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? oidc.ClientSecretBasic(secret)
    : oidc.ClientSecretPost(secret);
}

/** Requests the scope `groups` only if the provider supports it. */
function scopesOf(config: oidc.Configuration): string {
  const known = config.serverMetadata().scopes_supported ?? [];
  return ['openid', 'email', 'profile', ...(known.includes('groups') ? ['groups'] : [])].join(' ');
}

function guardedFetch(outbound: Outbound): oidc.CustomFetch {
  return async (url, options) => {
    const { body } = options;
    const answer = await outbound.request(url, {
      method: options.method,
      headers: options.headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(options.signal ? { signal: options.signal } : {}),
      maxBytes: MAX_BYTES,
    });
    const init = { status: answer.status, headers: answer.headers };
    return new Response(answer.body.length === 0 ? null : new Uint8Array(answer.body), init);
  };
}

/** Maps errors of the login and of the provider to messages without addresses. */
async function withClientErrors<T>(talk: () => Promise<T>): Promise<T> {
  try {
    return await talk();
  } catch (error) {
    if (error instanceof EstateError) throw error;
    throw isRefusal(error)
      ? notConfirmed(error)
      : new EstateError('upstream_failed', 'The response of the identity provider is invalid.', {
          cause: error,
        });
  }
}

const notConfirmed = (cause?: unknown): EstateError =>
  new EstateError('invalid_credentials', 'The provider has not confirmed the login; start it again.', {
    cause,
  });

/** Error codes that mean that the login is refused. */
const BROKEN_LOGINS = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
];

function isRefusal(error: unknown): boolean {
  if (error instanceof oidc.AuthorizationResponseError) return true;
  // wrong client credentials are an error of the settings, not of the user
  if (error instanceof oidc.ResponseBodyError) return error.status < 500 && error.error === 'invalid_grant';
  return error instanceof oidc.ClientError && BROKEN_LOGINS.includes(error.code ?? '');
}
