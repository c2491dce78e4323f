import { resetAdministrator } from '../../../domain/access/admin-reset.ts';
import { bearer, loginAs, password, person } from '../../support/accounts.ts';
import { openApp } from '../../support/harness.ts';

const { t, db } = await openApp();

it('lets an administrator in again: new password, active, unlocked, without a second factor', async () => {
  const who = await person(t, { role: 'admin' });
  const token = bearer((await loginAs(t, who)).body.access_token);
  const made = await t.anonymous.post('/api/v1/tokens', { name: 'N' }, token);
  await t.anonymous.post('/api/v1/auth/two-factor', { password }, token);
  await db('two_factor').where({ user_id: who.id }).update('secret', db.ref('pending_secret'));
  await db('users')
    .where({ id: who.id })
    .update({ is_active: false, locked_until: new Date(Date.now() + 60_000) });

  const fresh = 'another quiet horse';
  expect(await resetAdministrator(await t.ctx(), who.email.toUpperCase(), fresh)).toBe(who.email);
  expect((await loginAs(t, who, { password: fresh })).status).toBe(200);
  expect((await t.anonymous.get('/api/v1/auth/me', token)).status).toBe(401);
  expect((await t.anonymous.get('/api/v1/auth/me', bearer(made.body.token))).status).toBe(401);
  expect(await resetAdministrator(await t.ctx(), undefined, fresh)).toBe(who.email);
  await expect(resetAdministrator(await t.ctx(), 'nobody@estate.example', fresh)).rejects.toThrow(
    'There is no administrator nobody@estate.example.',
  );
});
