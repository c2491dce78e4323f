/** How sessions of the web interface end, and what they survive. */

import { totpCode } from '../../../domain/access/access.totp.ts';
import { storedKey } from '../../../domain/kernel/settings/settings.read.ts';
import { bearer, eventsOf, loginAs, password, person } from '../../support/accounts.ts';
import {
  browserOf,
  claimsIn,
  cleared,
  DAY,
  isIn,
  loginBy,
  openBrowser,
  sessionOf,
  storeSession,
  tokenIn,
} from '../../support/browser.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);

const ME = '/api/v1/auth/me';
const SESSIONS = '/api/v1/auth/sessions';
const now = () => Math.floor(Date.now() / 1000);

describe('a session ends', () => {
  it('seven days after its last use, and thirty days after the login', async () => {
    const { who } = await browserOf(t);
    for (const times of [
      { loginAt: now() - 8 * DAY, iat: now() - 7 * DAY - 1 },
      { loginAt: now() - 30 * DAY - 1, iat: now() - DAY, exp: now() - 1 },
    ]) {
      const browser = openBrowser(t, (await storeSession(t, who, times)).cookie);
      const answer = await browser.send('GET', ME);
      expect([answer.status, answer.body.detail]).toEqual([
        401,
        'The session has expired or was ended. Log in again.',
      ]);
      expect(browser.lastSet()).toMatch(cleared);
      expect((await openBrowser(t).send('GET', ME)).body.detail).toBe('Log in first.');
    }
  });

  it('is renewed by one of the requests after an hour, for at most thirty days', async () => {
    const { who } = await browserOf(t);
    const before = now() - DAY;
    const old = await storeSession(t, who, { loginAt: before, iat: now() - 3601 });
    const tabs = [1, 2, 3].map(() => openBrowser(t, old.cookie));
    const answers = await Promise.all(
      tabs.map((tab) => tab.send('GET', ME, undefined, { 'user-agent': 'New' })),
    );
    expect(pluck(answers, 'status')).toEqual([200, 200, 200]);
    const [renewed, ...others] = tabs.filter((tab) => tab.lastSet() !== undefined);
    expect(others).toEqual([]);
    const claims = claimsIn(tokenIn(renewed!.cookie()));
    expect(claims).toMatchObject({ jti: old.id, auth_time: before, web: true });
    expect(claims.exp - claims.iat).toBe(7 * DAY);
    const row = await db('web_sessions').where({ id: old.id }).first();
    expect(row).toMatchObject({ user_agent: 'New', expires_at: new Date(claims.exp * 1000) });
    await ok(renewed!.send('GET', ME));
    expect(renewed!.lastSet()).toBeUndefined();

    const loginAt = now() - 29 * DAY;
    const late = openBrowser(t, (await storeSession(t, who, { loginAt, iat: now() - 2 * DAY })).cookie);
    await ok(late.send('GET', '/api/v1/reports/landscape'));
    expect(claimsIn(tokenIn(late.cookie())).exp).toBe(loginAt + 30 * DAY);
    expect(late.lastSet()).toMatch(/Max-Age=8(6400|639\d);/);
  });

  it('at the logout, at which the browser forgets what it has stored', async () => {
    const { browser } = await browserOf(t);
    const copy = openBrowser(t, browser.cookie());
    const answer = await browser.send('POST', '/api/v1/auth/logout');
    expect(answer.headers['clear-site-data']).toBe('"cache", "storage"');
    expect(browser.lastSet()).toMatch(cleared);
    await expectProblem(copy.send('GET', ME), 401);
    expect(copy.lastSet()).toMatch(cleared);
    await ok(openBrowser(t).send('POST', '/api/v1/auth/logout'));
    const other = await t.anonymous.post('/api/v1/auth/logout');
    expect(other.headers).not.toHaveProperty('clear-site-data');
  });

  it('from another browser, one or all', async () => {
    const { who, browser } = await browserOf(t);
    const phone = openBrowser(t);
    await ok(loginBy(t, phone, who));
    const list = (await ok(browser.send('GET', SESSIONS))).items;
    expect(list.map((one: { id: string; is_current: boolean }) => [one.id, one.is_current])).toEqual([
      [sessionOf(phone), false],
      [sessionOf(browser), true],
    ]);
    const { browser: stranger } = await browserOf(t);
    await expectProblem(stranger.send('DELETE', `${SESSIONS}/${sessionOf(phone)}`), 404, 'not_found');
    expect((await browser.send('DELETE', `${SESSIONS}/${sessionOf(phone)}`)).status).toBe(204);
    expect([await isIn(phone), await isIn(browser)]).toEqual([false, true]);
    expect((await eventsOf(t, 'auth.logout')).at(-1)).toMatchObject({ user_id: who.id });

    const token: string = (await loginAs(t, who)).body.access_token;
    const personal: string = (await browser.send('POST', '/api/v1/tokens', { name: 'T' })).body.token;
    await expectProblem(t.anonymous.get(SESSIONS, bearer(personal)), 403, 'session_required');
    await loginBy(t, phone, who);
    const answer = await browser.send('POST', '/api/v1/auth/logout-everywhere');
    expect([answer.body, answer.headers['clear-site-data']]).toEqual([{ ok: true }, '"cache", "storage"']);
    expect([browser.cookie(), await isIn(phone)]).toEqual(['', false]);
    await expectProblem(t.anonymous.get(ME, bearer(token)), 401);
    await ok(t.anonymous.get(ME, bearer(personal)));
    await loginBy(t, phone, who);
    expect((await ok(phone.send('GET', SESSIONS))).items).toHaveLength(1);
    await ok(phone.send('POST', '/api/v1/auth/logout-everywhere', { api_tokens: true }));
    await expectProblem(t.anonymous.get(ME, bearer(personal)), 401);
  });

  it('with the account, its role and a password that somebody else sets', async () => {
    for (const change of [{ is_active: false }, { role: 'viewer' }, { password: 'another quiet horse' }]) {
      const { who, browser } = await browserOf(t);
      await ok(admin.patch(`/api/v1/users/${who.id}`, change));
      await expectProblem(browser.send('GET', ME), 401);
      expect(browser.lastSet()).toMatch(cleared);
    }
  });
});

describe('a session continues', () => {
  it('after a new password, with another cookie; the other sessions end', async () => {
    const { who, browser } = await browserOf(t);
    const phone = openBrowser(t);
    await loginBy(t, phone, who);
    const tab = openBrowser(t, browser.cookie());
    const id = sessionOf(browser);
    const change = { password: 'another quiet horse', current_password: password };
    const changed = await ok(browser.send('PATCH', `/api/v1/users/${who.id}`, change));
    expect(changed).toMatchObject({ id: who.id, token_type: 'cookie', expires_in: 7 * DAY });
    expect([sessionOf(browser), await isIn(browser), await isIn(phone)]).toEqual([id, true, false]);
    // a response that is late must not delete the new cookie
    await expectProblem(tab.send('GET', ME), 401);
    expect(tab.lastSet()).toBeUndefined();
    expect(pluck((await browser.send('GET', SESSIONS)).body.items, 'id')).toEqual([id]);
  });

  it('through the set-up and the use of a second factor', async () => {
    const { who, browser } = await browserOf(t);
    const { secret } = await ok(browser.send('POST', '/api/v1/auth/two-factor', { password }));
    const confirmed = await ok(
      browser.send('POST', '/api/v1/auth/two-factor/confirm', { code: totpCode(secret) }),
    );
    expect(confirmed.token_type).toBe('cookie');
    expect(await isIn(browser)).toBe(true);
    const phone = openBrowser(t);
    await expectProblem(loginBy(t, phone, who), 401, 'two_factor_required');
    expect(phone.lastSet()).toBeUndefined();
    await ok(loginBy(t, phone, who, { code: confirmed.recovery_codes[0] }));
    const off = { password, code: confirmed.recovery_codes[1] };
    expect(await ok(phone.send('POST', '/api/v1/auth/two-factor/disable', off))).toEqual({
      ok: true,
      token_type: 'cookie',
      expires_in: 7 * DAY,
    });
    expect([await isIn(phone), await isIn(browser)]).toEqual([true, false]);
  });

  it('after the set-up of a second factor that the workspace requires, which is all that it opens before', async () => {
    const key = storedKey('two_factor_required');
    await db('settings').insert({ key, value: 'true' });
    await db.raw("select raise_topics(array['settings'])");
    const who = await person(t);
    const browser = openBrowser(t);
    expect(await ok(loginBy(t, browser, who))).toEqual({
      token_type: 'cookie',
      expires_in: 900,
      two_factor_setup_required: true,
    });
    await expectProblem(browser.send('GET', '/api/v1/cards'), 401);
    expect(browser.lastSet()).toBeUndefined();
    const { secret } = await ok(browser.send('POST', '/api/v1/auth/two-factor', { password }));
    await ok(browser.send('POST', '/api/v1/auth/two-factor/confirm', { code: totpCode(secret) }));
    await ok(browser.send('GET', '/api/v1/cards'));
    await db('settings').where({ key }).delete();
    await db.raw("select raise_topics(array['settings'])");
  });
});
