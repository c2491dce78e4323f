/** Sessions of the web interface: a login by cookie, and what accepts the cookie. */

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createApp } from '../../../api/app.ts';
import { bearer, eventsOf, loginAs, password, person, unthrottled } from '../../support/accounts.ts';
import {
  browserOf,
  claimsIn,
  cleared,
  DAY,
  loginBy,
  openBrowser,
  sessionOf,
  tokenIn,
  webHeaders,
} from '../../support/browser.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const { t, db, admin } = await openApp(['admin']);
await t.app.listen({ port: 0, host: '127.0.0.1' });
const { port } = t.app.server.address() as { port: number };

const ME = '/api/v1/auth/me';
const SESSIONS = '/api/v1/auth/sessions';

describe('a login of the web interface', () => {
  it('sets a cookie that no script can read, and answers no token', async () => {
    const who = await person(t);
    const browser = openBrowser(t);
    const answer = await ok(loginBy(t, browser, who));
    expect(answer).toEqual({ token_type: 'cookie', expires_in: 7 * DAY });
    expect(browser.lastSet()).toMatch(
      /^__Host-estate=eyJ[\w.-]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    const me = await browser.send('GET', ME);
    expect(me.body.email).toBe(who.email);
    expect(me.headers).toMatchObject({ 'cache-control': 'private, no-cache' });
    expect(me.headers).not.toHaveProperty('set-cookie');
    const { exp, iat, auth_time } = claimsIn(tokenIn(browser.cookie()));
    expect([exp - iat, iat - auth_time]).toEqual([7 * DAY, 0]);
    const written = await browser.send('PATCH', `/api/v1/users/${who.id}`, { display_name: 'Changed' });
    expect(written.body.display_name).toBe('Changed');
  });

  it('is one of an invitation, a refresh, an impersonation and its end as well', async () => {
    const made = await admin.post('/api/v1/users', { email: 'new@estate.example', display_name: 'New' });
    const invited = openBrowser(t);
    const body = { token: made.body.setup_token, password: 'a long enough password' };
    await ok(invited.send('POST', '/api/v1/auth/set-password', body));
    expect(invited.cookie()).not.toBe('');

    const { browser } = await browserOf(t, { role: 'admin' });
    const id = sessionOf(browser);
    for (const [path, sent, role] of [
      ['refresh', undefined, null],
      ['impersonate', { role: 'viewer' }, 'viewer'],
      ['refresh', undefined, 'viewer'],
      ['stop-impersonating', undefined, null],
    ] as const) {
      expect((await ok(browser.send('POST', `/api/v1/auth/${path}`, sent))).token_type).toBe('cookie');
      expect((await ok(browser.send('GET', ME))).impersonated_role, path).toBe(role);
      expect(sessionOf(browser), path).toBe(id);
    }
  });

  it('never continues the session that the browser had before', async () => {
    const { browser: attacker } = await browserOf(t);
    const victim = openBrowser(t, attacker.cookie());
    const who = await person(t);
    await ok(loginBy(t, victim, who));
    expect(sessionOf(victim)).not.toBe(sessionOf(attacker));
    expect((await attacker.send('GET', ME)).body.email).not.toBe(who.email);
  });

  it('repeats an impersonation with its key, and sets the cookie again', async () => {
    const { browser, who } = await browserOf(t, { role: 'admin' });
    const before = browser.cookie();
    const key = { 'idempotency-key': randomUUID() };
    const count = async () => (await eventsOf(t, 'auth.impersonation_started')).length;
    const had = await count();
    await ok(browser.send('POST', '/api/v1/auth/impersonate', { role: 'viewer' }, key));
    const lost = openBrowser(t, before);
    const again = await lost.send('POST', '/api/v1/auth/impersonate', { role: 'viewer' }, key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await lost.send('GET', ME)).body.impersonated_role).toBe('viewer');
    expect(await count()).toBe(had + 1);
    const card = { type: 'Application', name: randomUUID() };
    const other = { 'idempotency-key': randomUUID() };
    const made = await openBrowser(t, before).send('POST', '/api/v1/cards', card, other);
    const replayed = await openBrowser(t, before).send('POST', '/api/v1/cards', card, other);
    expect([replayed.body.id, replayed.headers['idempotent-replayed']]).toEqual([made.body.id, 'true']);
    // the answer with a token is not repeated to a page
    const { body } = await loginAs(t, who);
    const third = { 'idempotency-key': randomUUID() };
    await ok(t.anonymous.post('/api/v1/auth/refresh', {}, { ...bearer(body.access_token), ...third }));
    await expectProblem(lost.send('POST', '/api/v1/auth/refresh', {}, third), 409, 'idempotency_key_reused');
  });
});

describe('the cookie is refused', () => {
  const foreign: [string, Record<string, string | undefined>][] = [
    ['without the header', { 'x-estate-client': undefined }],
    ['with another client', { 'x-estate-client': 'mobile' }],
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another host of the site', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:80' }],
    ['of an address that the user typed', { 'sec-fetch-site': 'none' }],
    ['of another origin', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['of the same host by another scheme', { 'sec-fetch-site': undefined, origin: 'https://localhost:80' }],
    ['of an opaque origin', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['of no origin', { 'sec-fetch-site': undefined }],
  ];
  const headersOf = (changes: Record<string, string | undefined>) =>
    Object.fromEntries(
      Object.entries({ ...webHeaders, ...changes }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;

  it.each(foreign)('in a request %s, and a login by it gets a token', async (_, changes) => {
    const { who, browser } = await browserOf(t);
    const headers = headersOf(changes);
    const refused = await t.anonymous.get(ME, { ...headers, cookie: browser.cookie() });
    expect([refused.status, refused.body.code]).toEqual([401, 'unauthorized']);
    expect(refused.headers).not.toHaveProperty('set-cookie');
    await unthrottled(t);
    const credentials = { email: who.email, password };
    const answer = await t.anonymous.post('/api/v1/auth/login', credentials, headers);
    expect(answer.body.token_type).toBe('bearer');
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  it('unless an older browser names the own origin, by the proxy if that is trusted', async () => {
    const { browser } = await browserOf(t);
    const base = { 'x-estate-client': 'web', cookie: browser.cookie() };
    await ok(t.anonymous.get(ME, { ...base, origin: 'http://localhost', host: 'localhost:80' }));
    const proxied = {
      ...base,
      origin: 'https://estate.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'estate.example',
    };
    await expectProblem(t.anonymous.get(ME, proxied), 401);
    const config = { ...t.services.config, trustProxy: ['127.0.0.1'] };
    const app = await createApp({ ...t.services, config });
    expect((await app.inject({ url: ME, headers: proxied })).statusCode).toBe(200);
    await app.close();
  });

  it('as a Bearer token, and an access token is as a cookie', async () => {
    const { who, browser } = await browserOf(t);
    const token = tokenIn(browser.cookie());
    await ok(browser.send('GET', ME));
    for (const authorization of [`Bearer ${token}`, token, `cookie ${token}`, browser.cookie()])
      await expectProblem(t.anonymous.get(ME, { authorization }), 401, 'unauthorized');
    const access: string = (await loginAs(t, who)).body.access_token;
    await ok(t.anonymous.get(ME, bearer(access)));
    const forged = openBrowser(t, `__Host-estate=${access}`);
    await expectProblem(forged.send('GET', ME), 401, 'unauthorized');
    expect(forged.lastSet()).toMatch(cleared);
    for (const bad of [admin.token.slice(0, -4), 'x', '', 'x'.repeat(5000)])
      await expectProblem(openBrowser(t, `__Host-estate=${bad}`).send('GET', ME), 401);
    const personal = (await admin.post('/api/v1/tokens', { name: 'T' })).body.token;
    await expectProblem(openBrowser(t, `__Host-estate=${personal}`).send('GET', ME), 401);
  });

  it('beside an Authorization header, which decides', async () => {
    const { browser } = await browserOf(t);
    expect((await browser.send('GET', ME, undefined, bearer(admin.token))).body.id).toBe(admin.userId);
    await expectProblem(browser.send('GET', ME, undefined, bearer('wrong')), 401);
    const refreshed = await browser.send('POST', '/api/v1/auth/refresh', undefined, bearer(admin.token));
    expect([refreshed.body.token_type, browser.lastSet()]).toEqual(['bearer', undefined]);
  });

  it.each([
    ['GET', '/odata/v4/Application'],
    ['GET', '/scim/v2/Users'],
    ['GET', '/metrics'],
    ['POST', '/mcp'],
  ] as const)('by %s %s', async (method, url) => {
    const { browser } = await browserOf(t, { role: 'admin' });
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const media = { accept: 'application/json, text/event-stream' };
    const answer = await browser.send(
      method,
      url,
      method === 'POST' ? message : undefined,
      method === 'POST' ? media : {},
    );
    expect(answer.status).toBe(401);
    expect(browser.lastSet()).toBeUndefined();
  });
});

it('opens the event stream, also by a ticket, until the session ends', async () => {
  const { browser } = await browserOf(t);
  const url = `http://127.0.0.1:${port}/api/v1/events/stream`;
  const { ticket } = (await browser.send('POST', '/api/v1/events/ticket')).body;
  const seen: string[] = [];
  const closed: string[] = [];
  const follow = (name: string, at: string, headers: Record<string, string>) =>
    openEventStream(at, headers, (_, type) => seen.push(`${name} ${type}`)).on('close', () =>
      closed.push(name),
    );
  follow('fetch', url, { ...webHeaders, cookie: browser.cookie() });
  follow('ticket', `${url}?ticket=${ticket}`, {});
  await until('both streams', async () => seen.length === 2);
  await admin.card();
  await until('an event', async () => seen.filter((line) => line.endsWith('card.created')).length === 2);
  await ok(browser.send('POST', '/api/v1/auth/logout'));
  await until('the end', async () => closed.length === 2);
});

it('is in no line of the log', async () => {
  const { browser } = await browserOf(t);
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const broken = async () => {
    throw new Error('no metamodel');
  };
  const metamodels = { ...t.services.metamodels, at: broken };
  const app = await createApp({ ...t.services, log, metamodels });
  const answer = await app.inject({ url: ME, headers: { ...webHeaders, cookie: browser.cookie() } });
  await app.close();
  expect(answer.statusCode).toBe(500);
  expect(lines.join()).toContain('no metamodel');
  expect(lines.join()).not.toContain(tokenIn(browser.cookie()));
});

it('the list of sessions shortens what clients say of themselves, and goes with the account', async () => {
  const who = await person(t);
  const browser = openBrowser(t);
  await unthrottled(t);
  const credentials = { email: who.email, password };
  await ok(browser.send('POST', '/api/v1/auth/login', credentials, { 'user-agent': 'x'.repeat(2000) }));
  const [item] = (await ok(browser.send('GET', SESSIONS))).items;
  expect(item).toEqual({
    id: sessionOf(browser),
    created_at: expect.any(String),
    last_used_at: expect.any(String),
    expires_at: expect.any(String),
    user_agent: 'x'.repeat(300),
    address: '127.0.0.1',
    is_current: true,
  });
  const data = await ok(browser.send('GET', `/api/v1/accounts/${who.id}/personal-data`));
  expect(data.web_sessions).toMatchObject([{ id: item.id, address: '127.0.0.1' }]);
  await ok(admin.delete(`/api/v1/users/${who.id}`), 204);
  expect(await db('web_sessions').where({ user_id: who.id })).toEqual([]);
});
