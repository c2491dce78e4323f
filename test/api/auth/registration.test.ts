// @redis
import { mailProcessor, registrationProcessor } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import {
  bearer,
  eventsOf,
  loginAs,
  password,
  person,
  roleWith,
  unthrottled,
} from '../../support/accounts.ts';
import { closeAfterAll, expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';
import { startSmtp, useSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';

const settings = '/api/v1/settings';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const smtp = closeAfterAll(await startSmtp());
closeAfterAll(await startWorkers(t.services, [mailProcessor, registrationProcessor]));

const post = async (path: string, body: unknown) => {
  await unthrottled(t);
  return await t.anonymous.post(`/api/v1/auth/${path}`, body);
};
const register = (email: string, more: object = {}) =>
  post('register', { email, display_name: 'New', password, ...more });
const confirm = (token: string, more: object = {}) =>
  post('confirm-registration', { token, password, ...more });
const mailTo = (email: string, count = 1) =>
  until(`${count} mails to ${email}`, async () => {
    const mails = smtp.mails.filter(({ to }) => to.includes(email));
    return mails.length >= count && mails.at(-1)!.text;
  });
const tokenOf = async (email: string, count = 1) => /token=([\w-]{43})/.exec(await mailTo(email, count))![1]!;

it('is off until it is switched on, for which a mail server is needed', async () => {
  expect((await t.anonymous.get(`${settings}/registration`)).body).toEqual({ enabled: false });
  await expectProblem(register('a@estate.example'), 403, 'registration_closed');
  await expectInvalid(admin.patch(`${settings}/registration`, { enabled: true }), 'enabled mail_needed');
  await useSmtp(t.services, smtp.port, { app_base_url: 'https://estate.example/app/' });
  expect((await t.anonymous.get('/api/v1/auth/sso/config')).body.registration_enabled).toBe(false);
  await ok(admin.patch(`${settings}/registration`, { enabled: true }));
  expect((await t.anonymous.get('/api/v1/auth/sso/config')).body.registration_enabled).toBe(true);
});

describe('switched on', () => {
  beforeEach(async () => {
    const policy = { allowed_domains: null, approval_required: null, role: null };
    await ok(admin.patch(`${settings}/registration-policy`, policy));
  });

  it('makes an account once the address is confirmed with the password, which sees no costs', async () => {
    const email = 'ada@estate.example';
    expect(await register(email)).toMatchObject({ status: 200, body: { status: 'confirmation_sent' } });
    const token = await tokenOf(email);
    expect(smtp.mails.at(-1)!.text).toContain('https://estate.example/app/confirm-registration?token=');
    expect(await db('users').where({ email })).toEqual([]);
    await expectProblem(loginAs(t, { id: '', email }), 401);
    const stored = JSON.stringify(await db('one_time_tokens').where({ purpose: 'registration' }));
    expect(stored).not.toContain(token);
    expect(stored).not.toContain(password);

    await expectProblem(confirm(token, { password: 'somebody else opened it' }), 401, 'invalid_credentials');
    await expectProblem(confirm('x'.repeat(43)), 404);
    const both = await Promise.all([confirm(token), confirm(token)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    const { access_token } = both.find(({ status }) => status === 200)!.body;
    const me = await t.anonymous.get('/api/v1/auth/me', bearer(access_token));
    expect(me.body).toMatchObject({ email, role: 'viewer' });
    expect([me.body.permissions['inventory.view'], me.body.permissions['costs.view']]).toEqual([true, false]);
    expect((await eventsOf(t, 'auth.registered')).at(-1).data).toMatchObject({ email, role: 'viewer' });
    await ok(loginAs(t, { id: '', email }));
  });

  it('answers alike, and writes alike, whether or not there is an account', async () => {
    const known = await person(t);
    const before = await db('users').where({ id: known.id }).first();
    const jobs = async () => Number((await db('jobs').where({ kind: 'registration' }).count())[0]!.count);
    const requested = async (email: string) => {
      const earlier = await jobs();
      const answer = await register(email);
      const event = (await eventsOf(t, 'auth.registration_requested')).at(-1);
      return [answer.status, answer.body, (await jobs()) - earlier, Object.keys(event.data)];
    };
    expect(await requested(known.email.toUpperCase())).toEqual(await requested('nobody@estate.example'));
    expect(await mailTo(known.email)).not.toContain('token=');
    expect(await db('users').where({ id: known.id }).first()).toEqual(before);
  });

  it('makes the token worthless when the address got an account meanwhile', async () => {
    const email = 'late@estate.example';
    await register(email);
    const token = await tokenOf(email);
    await person(t, { email });
    await expectProblem(confirm(token), 404);
  });

  it('takes addresses of the allowed domains alone', async () => {
    await admin.patch(`${settings}/registration-policy`, { allowed_domains: ['Estate.example'] });
    await expectInvalid(register('x@other.example'), 'email domain_not_allowed');
    await expectProblem(register('x@sub.estate.example'), 422);
    await ok(register('domain@ESTATE.example'));
    await expectInvalid(
      admin.patch(`${settings}/registration-policy`, { allowed_domains: ['a b'] }),
      'allowed_domains.0',
    );
  });

  it('leaves an account inactive until an administrator activates it, where approval is required', async () => {
    await admin.patch(`${settings}/registration-policy`, { approval_required: true, role: 'member' });
    const email = 'waiting@estate.example';
    await register(email);
    expect(await confirm(await tokenOf(email))).toMatchObject({
      status: 200,
      body: { status: 'approval_required' },
    });
    expect(await mailTo(admin.email)).toContain(email);
    await expectProblem(loginAs(t, { id: '', email }), 401);
    const { id } = await db('users').where({ email }).first('id');
    await ok(admin.patch(`/api/v1/users/${id}`, { is_active: true }));
    await ok(loginAs(t, { id, email }));
  });

  it('gives no role that the one who sets it does not hold', async () => {
    const settler = await t.as(await roleWith(t, 'admin.settings'), 'settler');
    const answers = [
      await settler.patch(`${settings}/registration-policy`, { role: 'admin' }),
      await settler.patch(`${settings}/registration-policy`, { role: 'member' }),
      await settler.patch(`${settings}/registration-policy`, { approval_required: true }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    await ok(admin.patch(`${settings}/registration`, { enabled: false }));
    await expectProblem(settler.patch(`${settings}/registration`, { enabled: true }), 403);
    await expectProblem(register('closed@estate.example'), 403);
    await expectProblem(admin.patch(`${settings}/registration-policy`, { role: 'nobody' }), 422);
  });
});
