import { randomUUID } from 'node:crypto';
import { totpCode } from '../../../domain/access/access.totp.ts';
import { quickHash } from '../../support/accounts.ts';
import { onNew, type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

const password = 'quite a long new password';
const anyone = () => ({ email: `${randomUUID()}@estate.example`, display_name: 'New' });

/** An invitation: the id of who was invited, and the token that sets the password. */
async function invite(w: World): Promise<{ id: string; token: string }> {
  const answer = await (await w.client('admin')).post('/api/v1/users', anyone());
  return { id: answer.body.id, token: answer.body.setup_token };
}

/** A token with which the password of somebody is replaced. */
async function resetToken(w: World): Promise<string> {
  const { id, token } = await invite(w);
  await w.t.services.db('one_time_tokens').where({ user_id: id }).update({ purpose: 'password-reset' });
  return token;
}

const hash = quickHash(password);

/** Gives the role's user a password, and no second factor. */
async function withPassword(w: World, role: Role): Promise<void> {
  const { db } = w.t.services;
  const { userId } = await w.client(role);
  if (!userId) return;
  await db('users').where({ id: userId }).update({ password_hash: hash });
  await db('two_factor').where({ user_id: userId }).delete();
  await db('throttles').delete();
}

/** Takes back that the logins of the role's user have ended. */
async function keepLogin(w: World, role: Role): Promise<void> {
  const { userId } = await w.client(role);
  if (userId) await w.t.services.db('users').where({ id: userId }).update({ token_version: 1 });
}

/** Begins a second factor for the role's user. @returns the code that confirms it. */
async function begun(w: World, role: Role): Promise<string> {
  await withPassword(w, role);
  if (role === 'anonymous') return '000000';
  const { body } = await (await w.client(role)).post('/api/v1/auth/two-factor', { password });
  return totpCode(body.secret);
}

/** Puts a second factor in force for the role's user. @returns a recovery code. */
async function inForce(w: World, role: Role): Promise<string> {
  const code = await begun(w, role);
  if (role === 'anonymous') return code;
  const { body } = await (await w.client(role)).post('/api/v1/auth/two-factor/confirm', { code });
  await keepLogin(w, role);
  return body.recovery_codes[0];
}

async function apiToken(w: World, role: Role, userId?: string): Promise<string> {
  if (role === 'anonymous') return randomUUID();
  const url = userId ? `/api/v1/accounts/${userId}/tokens` : '/api/v1/tokens';
  const client = await w.client(userId ? 'admin' : role);
  return (await client.post(url, { name: 'T' })).body.id;
}

async function customRole(w: World, archived = false): Promise<{ path: { key: string } }> {
  const key = `role_${randomUUID().slice(0, 8)}`;
  const admin = await w.client('admin');
  await admin.post('/api/v1/roles', { key, label: key });
  if (archived) await admin.post(`/api/v1/roles/${key}/archive`);
  return { path: { key } };
}

/** Accounts, tokens and roles. */
export const accountRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('POST /auth/impersonate', '+ - - - - - 0', () => ({ body: { role: 'viewer' } })),
  row('POST /auth/stop-impersonating', '+ + + + + + 0'),
  row('GET /auth/validate-setup-token', '+ + + + + + +', async (w) => ({
    query: `token=${(await invite(w)).token}`,
    apart: true,
  })),
  row('POST /auth/set-password', '+ + + + + + +', async (w) => ({
    body: { token: (await invite(w)).token, password },
    apart: true,
  })),
  row('POST /auth/forgot-password', '+ + + + + + +', () => ({
    body: { email: anyone().email },
    apart: true,
  })),
  row('GET /auth/validate-reset-token', '+ + + + + + +', async (w) => ({
    query: `token=${await resetToken(w)}`,
    apart: true,
  })),
  row('POST /auth/reset-password', '+ + + + + + +', async (w) => ({
    body: { token: await resetToken(w), password },
    apart: true,
  })),

  row('GET /auth/two-factor', '+ + + + + + 0'),
  row('POST /auth/two-factor', '+ + + + + + 0', async (w, role) => {
    await withPassword(w, role);
    return { body: { password } };
  }),
  row('POST /auth/two-factor/confirm', '+ + + + + + 0', async (w, role) => ({
    body: { code: await begun(w, role) },
    after: () => keepLogin(w, role),
  })),
  row('POST /auth/two-factor/recovery-codes', '+ + + + + + 0', async (w, role) => ({
    body: { password, code: await inForce(w, role) },
    after: () => keepLogin(w, role),
  })),
  row('POST /auth/two-factor/disable', '+ + + + + + 0', async (w, role) => ({
    body: { password, code: await inForce(w, role) },
    after: () => keepLogin(w, role),
  })),
  row('DELETE /accounts/{id}/two-factor', '+ - - - - - 0', async (w) => {
    const id = await w.user();
    await w.t.services.db('two_factor').insert({ user_id: id });
    return { path: { id } };
  }),

  row('GET /tokens', '+ + + + + + 0'),
  row('POST /tokens', '+ + + + + + 0', () => ({ body: { name: 'Mine' } })),
  row('DELETE /tokens/{id}', '+ + + + + + 0', onNew('id', apiToken)),
  row('GET /accounts/{id}/tokens', '+ - - - - - 0', async (w) => ({ path: { id: await w.user() } })),
  row(
    'POST /accounts/{id}/tokens',
    '+ - - - - - 0',
    onNew('id', (w) => w.user()),
    { name: 'Theirs' },
  ),
  row('DELETE /accounts/{id}/tokens/{token_id}', '+ - - - - - 0', async (w, role) => {
    const id = await w.user();
    return { path: { id, token_id: await apiToken(w, role, id) } };
  }),

  row('POST /users', '+ + - - - - 0', () => ({ body: anyone() })),
  row('GET /users/invitations', '+ - - - - - 0'),
  row(
    'POST /users/invitations/{id}/resend',
    '+ - - - - - 0',
    onNew('id', async (w) => (await invite(w)).id),
  ),
  row(
    'DELETE /users/invitations/{id}',
    '+ - - - - - 0',
    onNew('id', async (w) => (await invite(w)).id),
  ),
  row('GET /users/me/ui-preferences', '+ + + + + + 0'),
  row('PATCH /users/me/ui-preferences', '+ + + + + + 0', () => ({
    body: { dashboard_default_tab: 'workspace' },
  })),
  row('PATCH /users/bulk', '+ - - - - - 0', async (w) => ({
    body: { ids: [await w.user()], updates: { role: 'viewer' } },
  })),
  row('POST /users/bulk', '+ - - - - - 0', () => ({
    body: { users: [anyone()] },
  })),
  row('POST /users/bulk-delete', '+ - - - - - 0', async (w) => {
    const id = await w.user();
    await w.t.services.db('users').where({ id }).update({ is_active: false });
    return { body: { ids: [id] } };
  }),
  row('DELETE /users/{id}', '+ - - - - - 0', async (w) => ({ path: { id: await w.user() } })),
  row(
    'GET /accounts/{id}/personal-data',
    '+ - - - - - 0',
    onNew('id', (w) => w.user()),
  ),
  row('POST /accounts/{id}/erase', '+ - - - - - 0', async (w) => ({ path: { id: await w.user() } })),
  row('GET /service-accounts', '+ - - - - - 0'),
  row('POST /service-accounts', '+ - - - - - 0', () => ({
    body: { display_name: 'Robot', role: 'viewer' },
  })),

  row('POST /roles', '+ - - - - - 0', () => ({
    body: { key: `role_${randomUUID().slice(0, 8)}`, label: 'New' },
  })),
  row('PATCH /roles/{key}', '+ - - - - - 0', (w) => customRole(w), { label: 'Renamed' }),
  row('POST /roles/{key}/archive', '+ - - - - - 0', (w) => customRole(w)),
  row('POST /roles/{key}/restore', '+ - - - - - 0', (w) => customRole(w, true)),
];
