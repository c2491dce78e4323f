import { randomSecret, sha256 } from '../../platform/crypto.ts';
import { EstateError, invalidField } from '../../platform/errors.ts';
import { command } from '../command.ts';
import type { Ctx } from '../context.ts';
import { readSetting } from '../settings/settings.read.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { throttle } from './access.throttle.ts';
import { insertUsers, type UserRow } from './users.store.ts';

export interface RegisterInput {
  email: string;
  display_name: string;
  password: string;
  /** The one-time token from the log, needed for the first user of a workspace. */
  setup_token?: string;
  /** The client's network address. */
  address: string;
}

// Two first registrations at once must not make two administrators.
const FIRST_USER_LOCK = 7203004;

/**
 * Registers a user: the first one of a workspace, who shows the set-up token, becomes administrator, all
 * others get the default role.
 * @throws EstateError `registration_closed`, `email_taken`, or `validation_failed` by field.
 */
export async function register(ctx: Ctx, input: RegisterInput): Promise<TokenSubject> {
  await throttle(ctx.db, 'register', [`address ${input.address}`, `account ${input.email}`]);
  requireGoodPassword(input.password, input.email);
  const displayName = input.display_name.trim();
  if (displayName === '') throw invalidField('display_name', 'required', 'must not be blank');
  const passwordHash = await ctx.passwords.hash(input.password);
  return await command(ctx, async (work) => {
    const { sql } = work;
    await sql.raw('select pg_advisory_xact_lock(?)', [FIRST_USER_LOCK]);
    const first = !(await sql('users').first('id'));
    if (first) await useSetupToken(sql, input.setup_token);
    else await requireOpenRegistration(sql);
    const role = first ? 'admin' : (await sql('roles').where({ is_default: true }).first('key')).key;
    const [user] = (await insertUsers(
      work,
      [{ email: input.email, display_name: displayName, role, password_hash: passwordHash }],
      { event_type: 'auth.registered', data: { role, address: input.address } },
    )) as [UserRow];
    return await limited(sql, { userId: user.id, role, tokenVersion: user.token_version });
  });
}

async function requireOpenRegistration(sql: Ctx['db']): Promise<void> {
  const open = await readSetting(sql, 'registration_enabled');
  // where people log in through a provider, it decides who they are
  if (!open || (await readSetting(sql, 'sso')).enabled) {
    throw new EstateError('registration_closed', 'Self-registration is switched off; ask an administrator.');
  }
}

async function useSetupToken(sql: Ctx['db'], token: string | undefined): Promise<void> {
  const used =
    token === undefined
      ? 0
      : await sql('one_time_tokens')
          .where({ purpose: 'first-administrator', hash: sha256(token) })
          .delete();
  if (used === 0) {
    throw invalidField(
      'setup_token',
      token === undefined ? 'required' : 'wrong',
      'the first user of a workspace shows the set-up token which the service wrote to its log at start',
    );
  }
}

/**
 * Makes a new set-up token while the workspace has no user; older ones stop working.
 * @returns the token, or undefined when there is a user.
 */
export async function issueSetupToken(db: Ctx['db']): Promise<string | undefined> {
  const token = randomSecret();
  return await db.transaction(async (sql) => {
    await sql.raw('select pg_advisory_xact_lock(?)', [FIRST_USER_LOCK]);
    if (await sql('users').first('id')) return undefined;
    await sql('one_time_tokens').where({ purpose: 'first-administrator' }).delete();
    await sql('one_time_tokens').insert({
      hash: sha256(token),
      purpose: 'first-administrator',
      expires_at: sql.raw(`now() + interval '10 years'`),
    });
    return token;
  });
}

/**
 * Makes the first administrator while the workspace has no user.
 * @returns whether it was made.
 */
export async function createFirstAdministrator(ctx: Ctx, email: string, password: string): Promise<boolean> {
  requireGoodPassword(password, email);
  const passwordHash = await ctx.passwords.hash(password);
  return await command(ctx, async (work) => {
    await work.sql.raw('select pg_advisory_xact_lock(?)', [FIRST_USER_LOCK]);
    if (await work.sql('users').first('id')) return false;
    await insertUsers(work, [
      { email, display_name: 'Administrator', role: 'admin', password_hash: passwordHash },
    ]);
    return true;
  });
}
