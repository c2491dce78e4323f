import type { SecretBox } from '../../platform/crypto.ts';
import { query, type Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { readSetting } from '../kernel/settings/settings.read.ts';
import { named, recordLogin } from './access.entry.ts';
import { byAddress, throttle } from './access.throttle.ts';
import { lockTwoFactor, useCode } from './two-factor.store.ts';

/**
 * Number of consecutive wrong passwords that lock an account, or of wrong codes that lock its second factor, and the
 * duration.
 */
const LOCK_AFTER = 5;
const LOCK_MINUTES = 15;

/** The data of an access token. */
export interface TokenSubject {
  userId: string;
  role: string;
  tokenVersion: number;
  /** When the user logged in, in seconds since 1970; absent: now. */
  loginAt?: number;
  /** The role that the user impersonates. */
  impersonatedRole?: string;
  /** Whether the token can only be used to set up the second factor. */
  setupOnly?: boolean;
}

export interface LoginInput {
  email: string;
  password: string;
  /** A code of the authenticator, or a recovery code. */
  code?: string;
  /** The client's network address. */
  address: string;
  /** The languages that the client accepts, the most preferred first. */
  languages: readonly string[];
}

type Outcome = TokenSubject | 'refused' | 'code_needed';

/**
 * Checks a password and, if the account has a second factor, its code. Wrong, locked and unknown accounts get the same
 * response. Wrong passwords lock logins with password only; wrong codes lock all logins with password.
 * @throws EstateError `invalid_credentials`; `two_factor_required` if the password is correct and the code is missing
 * or wrong; `sso_required` if users log in through a provider, except an administrator who was reset in the last hour;
 * `too_many_requests` if rate limited.
 */
export async function login(ctx: Ctx, secrets: SecretBox, input: LoginInput): Promise<TokenSubject> {
  // Attackers can exhaust the account's limit from any address: with a code only the client's network is rate limited.
  const account = input.code === undefined ? [`account ${input.email}`] : [];
  await throttle(ctx.db, 'login', [byAddress(input.address), ...account]);
  const user = await ctx
    .db('users as u')
    .join('roles as r', 'r.key', 'u.role')
    .whereRaw('lower(u.email) = lower(?)', [input.email])
    .first(
      'u.id',
      'u.password_hash',
      'u.is_active',
      'u.kind',
      'r.is_archived',
      ctx.db.raw('u.password_login_until > now() as was_reset'),
    );
  if (!user?.was_reset) await refuseWithSso(ctx.db);
  const fits = await ctx.passwords.verify(input.password, user?.password_hash);
  const usable = user?.password_hash && user.is_active && user.kind === 'person' && !user.is_archived;
  const outcome = await command<Outcome>(ctx, async (work) => {
    const { sql, emit } = work;
    const account = { email: input.email, address: input.address };
    if (!user || !usable) {
      emit({ event_type: 'auth.login_failed', data: { ...account, reason: user ? 'inactive' : 'unknown' } });
      return 'refused';
    }
    const [now] = await sql('users')
      .where({ id: user.id })
      .forUpdate()
      .select(
        'role',
        'password_hash',
        'token_version',
        'failed_login_attempts',
        'last_login',
        'locale',
        sql.raw('locked_until > now() as locked'),
      );
    const failed = (reason: string) =>
      emit({ event_type: 'auth.login_failed', user_id: user.id, data: { ...account, reason } });
    const lock = () =>
      emit({ event_type: 'auth.locked', user_id: user.id, data: { ...account, minutes: LOCK_MINUTES } });
    // The password was checked before the lock: it may have changed since.
    if (!fits || now.password_hash !== user.password_hash) {
      if (now.locked) {
        failed('locked');
        return 'refused';
      }
      const counted = count(sql, now.failed_login_attempts);
      await query(sql).run`update users set failed_login_attempts = ${counted.failures},
        locked_until = ${counted.lockedUntil} where id = ${user.id}`;
      failed('password');
      if (counted.locks) lock();
      return 'refused';
    }
    const factor = await lockTwoFactor(sql, user.id);
    // Anyone can lock an account by wrong passwords: its owner can still log in with password and code together.
    if (factor?.secret ? factor.locked || (now.locked && input.code === undefined) : now.locked) {
      failed('locked');
      return 'refused';
    }
    if (factor?.secret) {
      if (input.code === undefined) return 'code_needed';
      if (!(await useCode(sql, secrets, factor, input.code))) {
        const counted = count(sql, factor.failed_codes);
        await query(sql).run`update two_factor set failed_codes = ${counted.failures},
          locked_until = ${counted.lockedUntil} where user_id = ${user.id}`;
        failed('code');
        if (counted.locks) lock();
        // While locked, no response reveals that the password is correct.
        return now.locked ? 'refused' : 'code_needed';
      }
      await sql('two_factor').where({ user_id: user.id }).update({ failed_codes: 0, locked_until: null });
    }
    await recordLogin(work, { ...now, id: user.id }, input.languages);
    emit({ event_type: 'auth.login', user_id: user.id, data: { ...account, ...named(input.languages) } });
    const subject = { userId: user.id, role: now.role, tokenVersion: now.token_version };
    return factor?.secret ? subject : await limited(sql, subject);
  });
  if (outcome === 'refused')
    throw new EstateError('invalid_credentials', 'The e-mail address or the password is not right.');
  if (outcome === 'code_needed') {
    throw new EstateError(
      'two_factor_required',
      input.code === undefined
        ? 'Send the code of your authenticator, or a recovery code, as `code`.'
        : 'The code is not right, or was used already.',
    );
  }
  return outcome;
}

/** Counts a failure. Returns whether it locks. */
function count(sql: Sql, before: number) {
  const locks = before + 1 >= LOCK_AFTER;
  const lockedUntil = locks ? sql.raw(`now() + interval '${LOCK_MINUTES} minutes'`) : null;
  return { locks, failures: locks ? 0 : before + 1, lockedUntil };
}

/** If the workspace requires a second factor, a user without one can only set one up. */
export async function limited(sql: Sql, subject: TokenSubject): Promise<TokenSubject> {
  return (await readSetting(sql, 'two_factor_required')) ? { ...subject, setupOnly: true } : subject;
}

/** @throws EstateError `sso_required` if users log in through a provider. */
export async function refuseWithSso(sql: Sql): Promise<void> {
  const { enabled, client_id } = await readSetting(sql, 'sso');
  if (enabled && client_id !== '') {
    const detail = 'People log in through the provider here; passwords are not taken.';
    throw new EstateError('sso_required', detail);
  }
}
