import { randomBytes, randomUUID, scryptSync } from 'node:crypto';
import type { TestApp } from './harness.ts';

/** The password of everybody whom `person` makes. */
export const password = 'a quiet horse on the hill';

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
export const basic = (user: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`,
});

export type TestPerson = { id: string; email: string };

/**
 * A stored password that takes a hundredth of the work to check, as the parameters in it say: most tests log in for
 * other reasons than to try what protects a stolen table.
 */
export function quickHash(secret: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(secret.normalize('NFKC'), salt, 32, { N: 2 ** 10, r: 8, p: 1 });
  return ['scrypt', 10, 8, 1, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

const hash = quickHash(password);

/** Somebody with a password, for logging in. */
export async function person(t: TestApp, values: Record<string, unknown> = {}): Promise<TestPerson> {
  const email = `${randomUUID()}@estate.example`;
  const [row] = await t.services
    .db('users')
    .insert({ email, display_name: 'Somebody', role: 'member', password_hash: hash, ...values })
    .returning(['id', 'email']);
  return row;
}

/** Forgets who has tried what. */
export const unthrottled = (t: TestApp) => t.services.db('throttles').delete();

/** Logs in, not held back by earlier attempts. */
export async function loginAs(t: TestApp, who: TestPerson, more: Record<string, unknown> = {}) {
  await unthrottled(t);
  return await t.anonymous.post('/api/v1/auth/login', { email: who.email, password, ...more });
}

/** The events of a kind, newest last. */
export const eventsOf = async (t: TestApp, type: string) =>
  await t.services.db('events').where({ event_type: type }).orderBy('position');

/** A role of a test's own that holds just these keys. */
export async function roleWith(t: TestApp, ...keys: string[]): Promise<string> {
  const key = `role_${randomUUID().slice(0, 8)}`;
  const permissions = JSON.stringify(Object.fromEntries(keys.map((name) => [name, true])));
  await t.services.db('roles').insert({ key, label: key, permissions });
  return key;
}
