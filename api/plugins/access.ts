import { randomUUID } from 'node:crypto';
import fastifyJwt from '@fastify/jwt';
import type { FastifyRequest } from 'fastify';
import { API_TOKEN_PREFIX } from '../../domain/access/api-tokens.ts';
import { anonymousCaller, type Caller } from '../../domain/kernel/context.ts';
import { redeemTicket } from '../../domain/kernel/events/tickets.ts';
import { type AppPermission, appPermissions } from '../../domain/kernel/permissions/permissions.data.ts';
import { forbidden, may, requireScope } from '../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../domain/kernel/services.ts';
import type { Credential, TokenClaims } from '../../domain/kernel/sessions.ts';
import { requireModule, SETTINGS_TOPIC } from '../../domain/kernel/settings/settings.read.ts';
import { deriveKey, keyId, sha256 } from '../../platform/crypto.ts';
import { EstateError } from '../../platform/errors.ts';
import { createLru } from '../../platform/lru.ts';
import { plainId } from '../schemas.ts';
import type { App, RoutePermission } from '../types.ts';

/** Life of an access token in seconds: 24 hours. */
export const TOKEN_SECONDS = 24 * 60 * 60;

/** Time after a login in which tokens can be refreshed, in seconds: 30 days. */
export const LOGIN_SECONDS = 30 * 24 * 60 * 60;

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Pick<TokenClaims, 'sub' | 'tv' | 'jti' | 'auth_time' | 'impersonated_role' | 'use'> & {
      role: string;
    };
    user: TokenClaims;
  }
}

/**
 * Authenticates requests and checks permissions. A route without a known permission makes the start fail. Requests of
 * callers without the permission are refused before the handler.
 */
export async function registerAccess(app: App, services: Services): Promise<void> {
  const keys = new Map(
    services.config.secretKeys.map((key) => [keyId(key), deriveKey(key, 'access tokens')]),
  );
  const current = keyId(services.config.secretKeys[0]!);
  await app.register(fastifyJwt, {
    secret: async (_request: unknown, token: unknown) => {
      const kid = (token as { header?: { kid?: string } } | undefined)?.header?.kid;
      // called with the payload to sign, or with the decoded token to verify
      const key = keys.get(kid ?? current);
      if (!key) throw new Error('unknown key');
      return key;
    },
    decode: { complete: true },
    sign: { algorithm: 'HS256', iss: 'estate', aud: 'estate-api', expiresIn: TOKEN_SECONDS, kid: current },
    verify: {
      algorithms: ['HS256'],
      allowedIss: 'estate',
      allowedAud: 'estate-api',
      requiredClaims: ['sub', 'jti', 'tv', 'exp', 'iat'],
    },
  });

  app.addHook('onRoute', (route) => {
    const permission = route.config?.permission;
    const known = (key: RoutePermission) =>
      key === 'public' || key === 'login' || (typeof key === 'string' && Object.hasOwn(appPermissions, key));
    const list = Array.isArray(permission) ? permission : [permission];
    if (list.length === 0 || !list.every((key) => key !== undefined && known(key))) {
      throw new Error(`the route ${route.method} ${route.url} declares no known permission`);
    }
  });

  const checked = createCheckedCredentials();
  app.addHook('onRequest', async (request) => {
    const { permission, scope, alone, duringSetup, module } = request.routeOptions.config;
    if (alone && permission === 'public') return;
    const { authorization } = request.headers;
    const purpose = request.routeOptions.config.ticket;
    const ticket = purpose ? (request.query as { ticket?: unknown } | undefined)?.ticket : undefined;

    let credential: Credential | undefined;
    const known = authorization === undefined ? undefined : checked.get(authorization);
    if (authorization !== undefined) credential = known ?? (await checked.check(request));
    else if (purpose && typeof ticket === 'string') {
      const path = plainId(new URL(request.url, 'http://service').pathname);
      credential = await redeemTicket(services.db, ticket, purpose, path);
    }
    request.credential = credential;
    const { caller, topics } = await services.sessions.read(credential ?? null);
    if (authorization !== undefined && caller && credential && !known)
      checked.keep(authorization, credential);
    request.topics = topics;
    request.ctx = {
      db: services.db,
      log: request.log as never,
      caller: caller ?? anonymousCaller,
      requestId: request.id,
      origin: 'api',
      jobId: null,
      batch: { id: randomUUID(), toolName: `${request.method} ${request.routeOptions.url}` },
      passwords: services.passwords,
      extensions: services.extensions,
      metamodels: services.metamodels,
      metamodel: await services.metamodels.at(topics.get('metamodel') ?? 0, services.db),
      position: undefined,
      ifMatch: undefined,
      claim: undefined,
    };
    const refuseDisabled = async () => {
      if (module === undefined) return;
      requireModule(await services.settings.at(topics.get(SETTINGS_TOPIC) ?? 0, services.db), module);
    };
    if (permission === undefined || permission === 'public') return await refuseDisabled();
    if (authorization === undefined && typeof ticket !== 'string')
      throw new EstateError('unauthorized', 'Send an access token as Bearer authorization.');
    if (!caller)
      throw new EstateError('unauthorized', 'The access token is not valid, has expired or was revoked.');
    if (caller.setupOnly && !duringSetup)
      throw new EstateError(
        'unauthorized',
        'This access token can only be used to set up the second factor.',
      );
    await refuseDisabled();
    check(caller, permission);
    if (scope) requireScope(caller, scope);
  });
}

function check(caller: Caller, permission: RoutePermission): void {
  if (permission === 'login' || permission === 'public') return;
  const list: AppPermission[] = Array.isArray(permission) ? permission : [permission];
  if (!list.some((key) => may(caller, key))) throw forbidden(list[0]!);
}

/**
 * The token of an Authorization header: a Bearer token, or an API token as the password of Basic authentication, for
 * clients that only support that. Empty for any other scheme.
 */
function presentedToken(header: string): string {
  const [, scheme, value] = /^(Bearer|Basic)\s+(\S+)$/i.exec(header) ?? [];
  if (scheme === undefined || value === undefined) return '';
  if (scheme.toLowerCase() === 'bearer') return value;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  const password = pair.slice(pair.indexOf(':') + 1);
  return password.startsWith(API_TOKEN_PREFIX) ? password : '';
}

/** Longer Authorization headers are refused: no token of this service is that long. */
const LONGEST_AUTHORIZATION = 4 * 1024;
/** Maximum bytes of the cached Authorization headers, and estimated bytes of one entry besides its header. */
const REMEMBERED_BYTES = 8 * 1024 * 1024;
const CALLER_BYTES = 2 * 1024;

/**
 * Caches verified Authorization headers until they expire: the content of a signed token never changes. Revocation is
 * checked for every request.
 */
function createCheckedCredentials() {
  const known = createLru<Credential>(REMEMBERED_BYTES, () => CALLER_BYTES);
  const read = async (request: FastifyRequest, token: string): Promise<Credential | undefined> => {
    if (token.startsWith(API_TOKEN_PREFIX)) return { hash: sha256(token) };
    return await request.jwtVerify<TokenClaims>().catch(() => undefined);
  };
  return {
    /** The cached credential of the header, unless it has expired. */
    get(authorization: string): Credential | undefined {
      const credential = known.get(authorization);
      if (credential === undefined || 'hash' in credential) return credential;
      if (credential.exp * 1000 > Date.now()) return credential;
      known.delete(authorization);
      return undefined;
    },
    async check(request: FastifyRequest): Promise<Credential | undefined> {
      const { authorization } = request.headers;
      if (authorization!.length > LONGEST_AUTHORIZATION) return undefined;
      return await read(request, presentedToken(authorization!));
    },
    /** Only call it for tokens that exist in the database: invented ones would evict real ones. */
    keep(authorization: string, credential: Credential): void {
      known.set(authorization, credential);
    },
  };
}
