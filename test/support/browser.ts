import { randomUUID } from 'node:crypto';
import { password, person, type TestPerson, unthrottled } from './accounts.ts';
import { ok, type TestApp, type TestResponse } from './harness.ts';

/** What browsers and the web interface add to a request of one of its pages. */
export const webHeaders = { 'x-estate-client': 'web', 'sec-fetch-site': 'same-origin' };

/** A browser that shows the web interface: it keeps the session cookie. */
export interface Browser {
  /** The cookie as it is sent; empty if there is none. */
  cookie(): string;
  /** The cookie that the last response has set, with its attributes. */
  lastSet(): string | undefined;
  send(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse>;
}

/** The token in a session cookie. */
export const tokenIn = (cookie: string): string => cookie.replace('__Host-estate=', '');

/** The claims of a token. */
export const claimsIn = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'));

/** @param given the cookie that the browser has at first. */
export function openBrowser(t: TestApp, given = ''): Browser {
  let cookie = given;
  let lastSet: string | undefined;
  return {
    cookie: () => cookie,
    lastSet: () => lastSet,
    async send(method, url, body, headers = {}) {
      const answer = await t.anonymous.request({
        method,
        url,
        headers: {
          ...webHeaders,
          ...(cookie ? { cookie: `theme=dark; ${cookie}` } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      lastSet = answer.headers['set-cookie'];
      if (lastSet !== undefined) {
        const [pair] = lastSet.split(';') as [string];
        cookie = tokenIn(pair) === '' ? '' : pair;
        // no script may read it
        expect(answer.text).not.toContain('eyJ');
      }
      return answer;
    },
  };
}

/** Logs somebody in, not held back by earlier attempts. */
export async function loginBy(t: TestApp, browser: Browser, who: TestPerson, more: object = {}) {
  await unthrottled(t);
  return await browser.send('POST', '/api/v1/auth/login', { email: who.email, password, ...more });
}

/** Somebody who has logged in by a browser. */
export async function browserOf(t: TestApp, values: Record<string, unknown> = {}) {
  const who = await person(t, values);
  const browser = openBrowser(t);
  await ok(loginBy(t, browser, who));
  return { who, browser };
}

/** The id of the browser's session. */
export const sessionOf = (browser: Browser): string => claimsIn(tokenIn(browser.cookie())).jti;

/** Whether the browser is logged in. */
export const isIn = async (browser: Browser) => (await browser.send('GET', '/api/v1/auth/me')).status === 200;

/** What deletes the cookie. */
export const cleared = /^__Host-estate=; Max-Age=0; Path=\/; HttpOnly; Secure; SameSite=Strict$/;

export const DAY = 24 * 60 * 60;

/** A session whose login and cookie are of other times, in seconds since 1970. */
export async function storeSession(
  t: TestApp,
  who: TestPerson,
  times: { loginAt: number; iat: number; exp?: number },
) {
  const id = randomUUID();
  const { loginAt, iat, exp = iat + 7 * DAY } = times;
  const at = (seconds: number) => new Date(seconds * 1000);
  await t.services.db('web_sessions').insert({
    id,
    user_id: who.id,
    token_version: 1,
    created_at: at(loginAt),
    last_used_at: at(iat),
    expires_at: at(exp),
    address: '127.0.0.1',
  });
  const claims = { sub: who.id, role: 'member', tv: 1, jti: id, auth_time: loginAt, iat, web: true as const };
  return { id, cookie: `__Host-estate=${await t.app.jwt.sign(claims, { expiresIn: exp - iat })}` };
}
