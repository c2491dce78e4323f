import { randomUUID } from 'node:crypto';
import fastifyJwt from '@fastify/jwt';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { API_TOKEN_PREFIX } from '../../domain/access/api-tokens.ts';
import { continuesWebSession } from '../../domain/access/web-sessions.ts';
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
import { clearCookie, cookieOf, isWebClient, renewCookie } from './web-session.ts';

/** Life of an access token in seconds: 24 hours. */
export const TOKEN_SECONDS = 24 * 60 * 60;

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Pick<TokenClaims, 'sub' | 'tv' | 'jti' | 'auth_time' | 'impersonated_role' | 'use' | 'web'> & {
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
      extractToken: (request) => tokenOf(presentedBy(request as FastifyRequest)) ?? '',
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

  const known = { header: createKnownCredentials(), cookie: createKnownCredentials() };
  const credentialOf = async (request: FastifyRequest, presented: Presented | undefined) => {
    if (presented?.by !== 'ticket') return presented && (await checkedCredential(request, presented));
    const path = plainId(new URL(request.url, 'http://service').pathname);
    return await redeemTicket(services.db, presented.value, request.routeOptions.config.ticket!, path);
  };
  app.addHook('onRequest', async (request, reply) => {
    const { permission, scope, alone, duringSetup, module } = request.routeOptions.config;
    if (alone && permission === 'public') return;
    request.isWebClient = isWebClient(request);
    const presented = presentedBy(request);
    const cache = presented && presented.by !== 'ticket' ? known[presented.by] : undefined;
    const cached = cache?.get(presented!.value);
    const credential = cached ?? (await credentialOf(request, presented));
    request.credential = credential;
    const { caller, topics } = await services.sessions.read(credential ?? null);
    if (caller && credential && !cached) cache?.keep(presented!.value, credential);
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
    if (presented?.by === 'cookie') {
      // shared caches know that a response is private only from an Authorization header
      reply.header('cache-control', 'private, no-cache');
      if (caller) await renewCookie(app, reply, caller);
    }
    if (permission === undefined || permission === 'public') return await refuseDisabled();
    if (!caller) throw await unauthorized(reply, presented);
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

/** What a request presents to name its caller. */
interface Presented {
  by: 'header' | 'ticket' | 'cookie';
  value: string;
}

/** An Authorization header takes precedence over a ticket, and a ticket over the cookie of the web interface. */
function presentedBy(request: FastifyRequest): Presented | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined) return { by: 'header', value: authorization };
  if (request.routeOptions.config.ticket) {
    const { ticket } = Object(request.query) as { ticket?: unknown };
    if (typeof ticket === 'string') return { by: 'ticket', value: ticket };
  }
  const cookie = request.isWebClient ? cookieOf(request) : undefined;
  return cookie === undefined ? undefined : { by: 'cookie', value: cookie };
}

const tokenOf = (presented: Presented | undefined): string | undefined =>
  presented?.by === 'header' ? presentedToken(presented.value) : presented?.value;

/** The error of a request without a valid login. The cookie of a session that has ended is deleted. */
async function unauthorized(reply: FastifyReply, presented: Presented | undefined): Promise<EstateError> {
  const { isWebClient: web, ctx, credential } = reply.request;
  const session =
    presented?.by === 'cookie' && credential && 'jti' in credential ? credential.jti : undefined;
  // after a change of the account, its session continues with another cookie, which the browser may have already
  const isOver = session === undefined || !(await continuesWebSession(ctx.db, session));
  if (presented?.by === 'cookie' && isOver) clearCookie(reply);
  const [none, invalid] = web
    ? ['Log in first.', 'The session has expired or was ended. Log in again.']
    : [
        'Send an access token as Bearer authorization.',
        'The access token is not valid, has expired or was revoked.',
      ];
  return new EstateError('unauthorized', presented ? invalid : none);
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

/** Longer Authorization headers and cookies are refused: no token of this service is that long. */
const LONGEST_AUTHORIZATION = 4 * 1024;
/** Maximum bytes of the cached Authorization headers or cookies, and estimated bytes of one entry besides its text. */
const REMEMBERED_BYTES = 8 * 1024 * 1024;
const CALLER_BYTES = 2 * 1024;

/** The credential of a header or a cookie; a token is only accepted in the way for which it was issued. */
async function checkedCredential(
  request: FastifyRequest,
  presented: Presented,
): Promise<Credential | undefined> {
  if (presented.value.length > LONGEST_AUTHORIZATION) return undefined;
  const token = tokenOf(presented)!;
  const isCookie = presented.by === 'cookie';
  if (!isCookie && token.startsWith(API_TOKEN_PREFIX)) return { hash: sha256(token) };
  const claims = await request.jwtVerify<TokenClaims>().catch(() => undefined);
  return claims && (claims.web ?? false) === isCookie ? claims : undefined;
}

/**
 * Caches verified credentials until they expire: the content of a signed token never changes. Revocation is checked for
 * every request.
 */
function createKnownCredentials() {
  const known = createLru<Credential>(REMEMBERED_BYTES, () => CALLER_BYTES);
  return {
    /** The cached credential, unless it has expired. */
    get(text: string): Credential | undefined {
      const credential = known.get(text);
      if (credential === undefined || 'hash' in credential) return credential;
      if (credential.exp * 1000 > Date.now()) return credential;
      known.delete(text);
      return undefined;
    },
    /** Only call it for tokens that exist in the database: invented ones would evict real ones. */
    keep(text: string, credential: Credential): void {
      known.set(text, credential);
    },
  };
}
