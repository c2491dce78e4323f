import * as oidc from 'openid-client';
import type { SettingValues } from '../../domain/kernel/settings/settings.defaults.ts';
import { EstateError } from '../../platform/errors.ts';
import type { Outbound } from '../../platform/outbound.ts';
import { issuerOf } from './sso.issuer.ts';

type SsoSettings = SettingValues['sso'];

/** How long the provider may take for one answer. */
const TIMEOUT_SECONDS = 5;
/** How far the provider's clock may be off. */
const TOLERANCE_SECONDS = 60;
/** Longer answers than any provider's keys and claims. */
const MAX_BYTES = 1024 * 1024;

/** What is needed to talk to a provider. */
export interface ProviderAccess {
  outbound: Outbound;
  sso: SsoSettings;
  clientSecret: string;
}

/** What the service keeps to itself between the two halves of a login. */
export interface Handshake {
  nonce: string;
  verifier: string;
  redirect_uri: string;
}

/** The provider's answer to somebody's login, as it came to the redirect address. */
export interface Redirected {
  code: string;
  state: string;
  iss?: string;
}

/** The address that somebody logs in at, and what the answer is checked against. */
export async function beginAtProvider(
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
 * Exchanges the code, checks the ID token (signature, issuer, audience, nonce, times) and gathers the claims.
 * @throws EstateError `invalid_credentials` when the provider or a check refuses, `upstream_failed` when the provider
 * does not answer as it should.
 */
export async function finishAtProvider(
  access: ProviderAccess,
  handshake: Handshake,
  answer: Redirected,
): Promise<oidc.IDToken> {
  const config = await discover(access);
  const url = new URL(handshake.redirect_uri);
  url.searchParams.set('code', answer.code);
  url.searchParams.set('state', answer.state);
  if (answer.iss !== undefined) url.searchParams.set('iss', answer.iss);
  return await telling(async () => {
    const tokens = await oidc.authorizationCodeGrant(config, url, {
      expectedState: answer.state,
      expectedNonce: handshake.nonce,
      pkceCodeVerifier: handshake.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    const complete = claims.email !== undefined && claims[access.sso.group_claim] !== undefined;
    if (complete || !config.serverMetadata().userinfo_endpoint) return claims;
    const more = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  });
}

/**
 * Asks the provider for its endpoints. Nothing is kept between logins, so that a key which it has replaced counts at
 * once.
 */
async function discover(access: ProviderAccess): Promise<oidc.Configuration> {
  const { sso, clientSecret } = access;
  const options: oidc.DiscoveryRequestOptions = {
    timeout: TIMEOUT_SECONDS,
    [oidc.customFetch]: guardedFetch(access.outbound),
    // the guard decides which addresses are called, and takes http only for those that are allowed by name
    execute: [oidc.allowInsecureRequests],
  };
  const metadata = { [oidc.clockTolerance]: TOLERANCE_SECONDS };
  const found = await telling(() =>
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
  // the ID token's signature is checked too, although it comes over the provider's own connection
  oidc.enableNonRepudiationChecks(config);
  return config;
}

function overridden(sso: SsoSettings): Record<string, string> {
  const given = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;
  return Object.fromEntries(given.filter((name) => sso[name] !== '').map((name) => [name, sso[name]]));
}

function authenticationOf(known: oidc.ServerMetadata, secret: string): oidc.ClientAuth {
  if (secret === '') return oidc.None();
  // RFC 8414: basic where the provider says nothing
  const methods = known.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? oidc.ClientSecretBasic(secret)
    : oidc.ClientSecretPost(secret);
}

/** Asks for groups only where the provider knows such a scope. */
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
    return new Response(answer.body.length === 0 ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/** Refusals of the login, and answers of a provider that is not well, in our words; neither tells addresses. */
async function telling<T>(talk: () => Promise<T>): Promise<T> {
  try {
    return await talk();
  } catch (error) {
    throw isRefusal(error)
      ? new EstateError('invalid_credentials', 'The provider has not confirmed the login; begin it again.', {
          cause: error,
        })
      : new EstateError('upstream_failed', 'The provider of the login does not answer as it should.', {
          cause: error,
        });
  }
}

/** Faults of the provider's answers that say that this login does not hold. */
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
