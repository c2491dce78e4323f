import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { loadSettings } from '../kernel/settings/settings.state.ts';
import { registrationOpen } from '../kernel/settings/settings.views.ts';

/** A registration, stored until the address is confirmed, for at most one day. */
export interface Registration {
  email: string;
  display_name: string;
  password_hash: string;
}

/** Hours after which an unconfirmed registration expires. */
const REGISTRATION_HOURS = 24;
const REQUESTED = 'registration-requested';
const MAILED = 'registration';

/** The rules of self-registration. */
export interface RegistrationPolicy {
  role: string;
  approvalRequired: boolean;
  /** Whether the address is of an allowed domain. */
  allows(email: string): boolean;
}

/**
 * The policy of self-registration.
 * @throws EstateError `registration_closed` if it is disabled, users log in through a provider, or mail is not
 * configured.
 */
export async function requireOpenRegistration(sql: Sql): Promise<RegistrationPolicy> {
  const settings = await loadSettings(sql);
  if (!registrationOpen(settings)) {
    throw new EstateError('registration_closed', 'Self-registration is switched off; ask an administrator.');
  }
  const { role, approval_required, allowed_domains } = settings.values.registration_policy;
  const domains = allowed_domains.map((domain) => domain.toLowerCase());
  return {
    role,
    approvalRequired: approval_required,
    allows: (email) =>
      domains.length === 0 || domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase()),
  };
}

async function insert(sql: Sql, purpose: string, hash: string, registration: Registration): Promise<void> {
  await sql('one_time_tokens').insert({
    hash,
    purpose,
    data: JSON.stringify(registration),
    expires_at: sql.raw('now() + make_interval(hours => ?)', [REGISTRATION_HOURS]),
  });
}

async function take(sql: Sql, purpose: string, hash: string): Promise<Registration | undefined> {
  const [row] = await sql('one_time_tokens')
    .where({ hash, purpose })
    .whereRaw('expires_at > now()')
    .delete()
    .returning('data');
  return row?.data;
}

/** Stores a registration for the job that mails its token. */
export const storeRegistration = (sql: Sql, request: string, registration: Registration): Promise<void> =>
  insert(sql, REQUESTED, request, registration);

/** Deletes and returns a stored registration. */
export const takeRegistration = (sql: Sql, request: string): Promise<Registration | undefined> =>
  take(sql, REQUESTED, request);

/** Stores a registration under the hash of the mailed token. */
export const storeMailed = (sql: Sql, hash: string, registration: Registration): Promise<void> =>
  insert(sql, MAILED, hash, registration);

/** The registration of a mailed token; undefined if the token is unknown, used or expired. */
export async function findMailed(sql: Sql, hash: string): Promise<Registration | undefined> {
  const row = await sql('one_time_tokens')
    .where({ hash, purpose: MAILED })
    .whereRaw('expires_at > now()')
    .first('data');
  return row?.data;
}

/** Deletes and returns the registration of a mailed token. */
export const takeMailedRegistration = (sql: Sql, hash: string): Promise<Registration | undefined> =>
  take(sql, MAILED, hash);
