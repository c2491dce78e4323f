import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { loadSettings } from '../kernel/settings/settings.state.ts';
import { registrationOpen } from '../kernel/settings/settings.views.ts';

/** A registration, stored until the address is confirmed, for one day at most. */
export interface Registration {
  email: string;
  display_name: string;
  password_hash: string;
}

/** Hours for which a registration waits for its confirmation. */
const REGISTRATION_HOURS = 24;
const REQUESTED = 'registration-requested';
const MAILED = 'registration';

/** Who may register, and what follows from it. */
export interface RegistrationPolicy {
  role: string;
  approvalRequired: boolean;
  /** Whether the address is of an allowed domain. */
  allows(email: string): boolean;
}

/**
 * The policy of self-registration.
 * @throws EstateError `registration_closed` while it is off, people log in through a provider, or no mail can be sent.
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

/** Keeps a registration for the job that mails its token. */
export const storeRegistration = (sql: Sql, request: string, registration: Registration): Promise<void> =>
  insert(sql, REQUESTED, request, registration);

/** Takes a stored registration, once. */
export const takeRequested = (sql: Sql, request: string): Promise<Registration | undefined> =>
  take(sql, REQUESTED, request);

/** Keeps a registration under the hash of the token that is mailed. */
export const storeMailed = (sql: Sql, hash: string, registration: Registration): Promise<void> =>
  insert(sql, MAILED, hash, registration);

/** The registration of a mailed token; undefined when the token is unknown, was used or has expired. */
export async function findMailed(sql: Sql, hash: string): Promise<Registration | undefined> {
  const row = await sql('one_time_tokens')
    .where({ hash, purpose: MAILED })
    .whereRaw('expires_at > now()')
    .first('data');
  return row?.data;
}

/** Takes the registration of a mailed token, once. */
export const takeMailed = (sql: Sql, hash: string): Promise<Registration | undefined> =>
  take(sql, MAILED, hash);
