import { randomUUID } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TokenSubject } from '../../domain/access/access.login.ts';
import { renewWebSession, storeWebSession } from '../../domain/access/web-sessions.ts';
import type { Caller } from '../../domain/kernel/context.ts';
import { LOGIN_SECONDS } from '../../domain/kernel/sessions.ts';
import type { App } from '../types.ts';

/** Browsers accept a cookie with this prefix only from this host, over TLS or on the loopback address. */
const COOKIE = '__Host-estate';
/** Time without a request after which a session ends, in seconds: 7 days. */
const IDLE_SECONDS = 7 * 24 * 60 * 60;
/** Lifetime in seconds of a token or cookie that can only be used to set up the second factor. */
export const SETUP_SECONDS = 15 * 60;
/** Age of a cookie in seconds from which it is renewed when it is used. */
const RENEWAL_SECONDS = 60 * 60;

/**
 * Whether the web interface sent the request: pages of other origins can neither send the header without permission
 * (CORS) nor choose `Sec-Fetch-Site` or `Origin`.
 */
export function isWebClient(request: FastifyRequest): boolean {
  const { headers, routeOptions } = request;
  if (headers['x-estate-client'] !== 'web' || headers.authorization !== undefined) return false;
  if (!routeOptions.url?.startsWith('/api/v1/')) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const own = URL.parse(`${request.protocol}://${request.host}`)?.origin;
  return own !== undefined && headers.origin === own;
}

/** The session cookie of a request. */
export const cookieOf = ({ headers }: FastifyRequest): string | undefined =>
  headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[COOKIE];

function setCookie(reply: FastifyReply, value: string, maxAge: number): void {
  // another one would be added to a cookie that was renewed before
  reply.removeHeader('set-cookie');
  const options = { maxAge, path: '/', secure: true, httpOnly: true, sameSite: 'strict' } as const;
  reply.header('set-cookie', stringifySetCookie({ name: COOKIE, value, ...options }));
}

/** Deletes the session cookie. */
export const clearCookie = (reply: FastifyReply): void => setCookie(reply, '', 0);

/** Deletes the session cookie, and everything else that the browser has stored. */
export function clearSite(reply: FastifyReply): void {
  if (!reply.request.isWebClient) return;
  clearCookie(reply);
  reply.header('clear-site-data', '"cache", "storage"');
}

/** When a cookie that is issued now expires, in seconds since 1970. */
function expiryOf({ loginAt, setupOnly }: Pick<TokenSubject, 'loginAt' | 'setupOnly'>, now: number): number {
  const longest = setupOnly ? SETUP_SECONDS : IDLE_SECONDS;
  return Math.max(now + 1, Math.min(now + longest, (loginAt ?? now) + LOGIN_SECONDS));
}

/** The claims of a token for a user, besides those of all tokens. */
export const claimsOf = (subject: TokenSubject, jti: string, loginAt: number) => ({
  sub: subject.userId,
  role: subject.role,
  tv: subject.tokenVersion,
  jti,
  auth_time: loginAt,
  ...(subject.impersonatedRole ? { impersonated_role: subject.impersonatedRole } : {}),
  ...(subject.setupOnly ? { use: 'two_factor_setup' as const } : {}),
});

async function sendCookie(
  app: App,
  reply: FastifyReply,
  subject: TokenSubject & { loginAt: number },
  id: string,
  seconds: number,
): Promise<void> {
  const claims = { ...claimsOf(subject, id, subject.loginAt), web: true as const };
  setCookie(reply, await app.jwt.sign(claims, { expiresIn: seconds }), seconds);
}

const clientOf = ({ headers, ip }: FastifyRequest) => ({ userAgent: headers['user-agent'], address: ip });

/**
 * Sends the cookie of a new session, or of the one of the request if its login continues.
 * @returns its lifetime in seconds.
 */
export async function issueCookie(app: App, reply: FastifyReply, subject: TokenSubject): Promise<number> {
  const { request } = reply;
  const { db, caller } = request.ctx;
  const now = Math.floor(Date.now() / 1000);
  // a login never continues a session that the browser had before
  const current = subject.loginAt !== undefined && caller.isWebSession ? caller.tokenId : null;
  const id = current ?? randomUUID();
  const expiresAt = expiryOf(subject, now);
  const { userId, tokenVersion, loginAt = now } = subject;
  await storeWebSession(db, { id, userId, tokenVersion, loginAt, expiresAt, ...clientOf(request) });
  await sendCookie(app, reply, { ...subject, loginAt }, id, expiresAt - now);
  return expiresAt - now;
}

/** Renews the cookie of a request if it is older than an hour, so that a session ends seven days after its last use. */
export async function renewCookie(app: App, reply: FastifyReply, caller: Caller): Promise<void> {
  const { credential, ctx } = reply.request;
  if (!credential || !('iat' in credential) || caller.setupOnly) return;
  const now = Math.floor(Date.now() / 1000);
  if (now - credential.iat < RENEWAL_SECONDS) return;
  const subject = {
    userId: caller.userId!,
    role: caller.role,
    tokenVersion: caller.tokenVersion!,
    loginAt: caller.loginAt!,
    ...(caller.impersonatedRole ? { impersonatedRole: caller.impersonatedRole } : {}),
  };
  const expiresAt = expiryOf(subject, now);
  const session = { id: credential.jti, expiresAt, ...clientOf(reply.request) };
  if (await renewWebSession(ctx.db, session))
    await sendCookie(app, reply, subject, session.id, expiresAt - now);
}
