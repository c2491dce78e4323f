// @redis
import { mailProcessor, passwordResetProcessor } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { bearer, eventsOf, loginAs, password, person, unthrottled } from '../../support/accounts.ts';
import { closeAfterAll, expectProblem, ok, openApp } from '../../support/harness.ts';
import { startSmtp, useSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const smtp = closeAfterAll(await startSmtp());
await useSmtp(t.services, smtp.port, { app_base_url: 'https://estate.example/app/' });
closeAfterAll(await startWorkers(t.services, [mailProcessor, passwordResetProcessor]));

const fresh = 'another quiet horse';
const post = async (path: string, body: unknown) => {
  await unthrottled(t);
  return await t.anonymous.post(`/api/v1/auth/${path}`, body);
};
const valid = async (path: string, token: string) => {
  await unthrottled(t);
  return await t.anonymous.get(`/api/v1/auth/${path}?token=${token}`);
};
/** The token in the newest mail to the address, once there are so many. */
const mailed = (email: string, count = 1) =>
  until(`${count} mails to ${email}`, async () => {
    const mails = smtp.mails.filter(({ to }) => to.includes(email));
    return mails.length >= count && /token=([\w-]{43})/.exec(mails.at(-1)!.text)?.[1];
  });

describe('an invitation', () => {
  it('is mailed, chooses the password once, and logs in', async () => {
    const email = 'grace@estate.example';
    const made = await admin.post('/api/v1/users', {
      email,
      display_name: 'Grace Hopper',
      role: 'viewer',
      send_email: true,
    });
    expect([made.status, made.body.pending_setup, made.body.has_password]).toEqual([201, true, false]);
    expect(made.body).not.toHaveProperty('setup_token');
    expect((await admin.get('/api/v1/users/invitations?search=grace')).body.items).toEqual([
      {
        id: made.body.id,
        email,
        display_name: 'Grace Hopper',
        role: 'viewer',
        created_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ]);
    const first = await mailed(email);
    expect(smtp.mails.at(-1)!.text).toContain('https://estate.example/app/set-password?token=');
    const again = `/api/v1/users/invitations/${made.body.id}/resend`;
    expect((await admin.post(again)).body).toEqual({ ok: true, mail_configured: true });
    const second = await mailed(email, 2);
    await expectProblem(valid('validate-setup-token', first), 404);
    const { body } = await valid('validate-setup-token', second);
    expect(body).toEqual({ valid: true, email, display_name: 'Grace Hopper' });
    expect((await valid('validate-reset-token', second)).status, 'for another purpose').toBe(404);

    expect((await post('set-password', { token: second, password: 'short' })).body.errors[0].field).toBe(
      'password',
    );
    const both = await Promise.all(
      [1, 2].map(() => post('set-password', { token: second, password: fresh })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const { access_token } = both.find(({ status }) => status === 200)!.body;
    expect((await t.anonymous.get('/api/v1/auth/me', bearer(access_token))).body.email).toBe(email);
    expect((await admin.get('/api/v1/users/invitations')).body.total).toBe(0);
    await expectProblem(admin.post(again), 404);
    await ok(loginAs(t, made.body, { password: fresh }));
  });

  it('without a mail gives its token to who holds what the role holds, and may be withdrawn', async () => {
    const made = await admin.post('/api/v1/users', { email: 'w@estate.example', display_name: 'W' });
    await ok(valid('validate-setup-token', made.body.setup_token));
    const url = `/api/v1/users/invitations/${made.body.id}`;
    await ok(admin.delete(url), 204);
    await expectProblem(valid('validate-setup-token', made.body.setup_token), 404);
    await expectProblem(admin.delete(url), 404);
    expect((await eventsOf(t, 'user.deleted')).at(-1).data).toMatchObject({
      id: made.body.id,
      changes: { email: { old: 'w@estate.example', new: null } },
    });
  });

  it('ends with deactivation, and after a week', async () => {
    const { body } = await admin.post('/api/v1/users', { email: 'x@estate.example', display_name: 'X' });
    await db('one_time_tokens')
      .where({ user_id: body.id })
      .update({ expires_at: db.raw(`expires_at - interval '7 days'`) });
    await expectProblem(post('set-password', { token: body.setup_token, password: fresh }), 404);
    const other = await admin.post('/api/v1/users', { email: 'y@estate.example', display_name: 'Y' });
    await admin.patch(`/api/v1/users/${other.body.id}`, { is_active: false });
    await expectProblem(
      post('set-password', { token: other.body.setup_token, password: fresh }),
      404,
      'not_found',
    );
  });
});

describe('a forgotten password', () => {
  it('is replaced by a mailed token, once; all logins end, and the lock', async () => {
    const who = await person(t, { locked_until: new Date(Date.now() + 600_000) });
    await ok(admin.get('/api/v1/auth/me'));
    const asked = await post('forgot-password', { email: who.email.toUpperCase() });
    expect([asked.status, asked.body]).toEqual([200, { ok: true, mail_configured: true }]);
    const token = await mailed(who.email);
    expect((await valid('validate-reset-token', token)).body.email).toBe(who.email);
    // somebody else asks again and again: the mail that came first still works
    await post('forgot-password', { email: who.email });
    await mailed(who.email, 2);
    await expectProblem(post('reset-password', { token, password: 'password1234' }), 422);
    expect((await post('reset-password', { token, password: fresh })).body).toEqual({ ok: true });
    await expectProblem(post('reset-password', { token, password: fresh }), 404);
    await expectProblem(loginAs(t, who), 401);
    await ok(loginAs(t, who, { password: fresh }));
    const job = await db('jobs').where({ kind: 'password_reset' }).orderBy('id', 'desc').first();
    expect(JSON.stringify(job)).not.toContain(token);
  });

  it('answers alike, and writes alike, whether or not there is such an account', async () => {
    const service = await admin.post('/api/v1/service-accounts', { display_name: 'R', role: 'viewer' });
    const robot = await admin.get(`/api/v1/users/${service.body.id}`);
    const sso = await person(t, { auth_provider: 'sso', password_hash: null });
    const inactive = await person(t, { is_active: false });
    const before = smtp.mails.length;
    for (const email of [
      'nobody@estate.example',
      'no address',
      robot.body.email,
      sso.email,
      inactive.email,
    ]) {
      const answer = await post('forgot-password', { email });
      expect([answer.status, answer.body]).toEqual([200, { ok: true, mail_configured: true }]);
    }
    await until('the jobs to end', async () => {
      const [open] = await db('jobs').whereNull('finished_at').count('* as n');
      return open!.n === 0 || undefined;
    });
    expect(smtp.mails.length).toBe(before);
    expect(await eventsOf(t, 'auth.password_reset_requested')).toHaveLength(7);
  });

  it('is throttled by address and by account name, known or not', async () => {
    await unthrottled(t);
    const ask = (email: string, remoteAddress: string) =>
      t.anonymous.request({
        method: 'POST',
        url: '/api/v1/auth/forgot-password',
        remoteAddress,
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ email }),
      });
    for (let n = 0; n < 5; n += 1) await ask('ghost@estate.example', `10.1.0.${n}`);
    await expectProblem(ask('Ghost@estate.example', '10.1.0.9'), 429);
    for (let n = 0; n < 5; n += 1) await ask(`ghost-${n}@estate.example`, '10.1.1.1');
    await expectProblem(ask('ghost-9@estate.example', '10.1.1.1'), 429);
  });

  it('leaves the second factor and a password that is still known', async () => {
    const who = await person(t);
    await post('forgot-password', { email: who.email });
    const token = await mailed(who.email);
    await ok(loginAs(t, who, { password }));
    // a new address makes what was mailed to the old one useless
    await admin.patch(`/api/v1/users/${who.id}`, { email: 'moved@estate.example' });
    await expectProblem(valid('validate-reset-token', token), 404);
  });
});
