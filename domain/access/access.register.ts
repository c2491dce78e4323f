import { randomUUID } from 'node:crypto';
import { randomSecret, sha256 } from '../../platform/crypto.ts';
import { inTransaction, query } from '../../platform/database.ts';
import { invalidField } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { enqueueJob } from '../kernel/jobs/jobs.enqueue.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { byAddress, throttle } from './access.throttle.ts';
import { registrationJob } from './registration.job.ts';
import { requireOpenRegistration, storeRegistration } from './registrations.ts';
import { insertUsers, type UserRow } from './users.store.ts';

export interface RegisterInput {
  email: string;
  display_name: string;
  password: string;
  /** The one-time token from the log, required for the first user of a workspace. */
  setup_token?: string;
  /** The client's network address. */
  address: string;
}

// Two concurrent first registrations must not create two administrators.
const FIRST_USER_LOCK = 7203004;

/**
 * Registers a user. The first user of a workspace, who needs the set-up token, becomes an administrator at once. All
 * others receive a mail that confirms the address. A job looks up whether the address has an account, so that neither
 * the response nor its duration depends on it.
 * @returns undefined if the address has to be confirmed.
 * @throws EstateError `registration_closed`, or `validation_failed` by field.
 */
export async function register(ctx: Ctx, input: RegisterInput): Promise<TokenSubject | undefined> {
  await throttle(ctx.db, 'register', [byAddress(input.address), `account ${input.email}`]);
  requireGoodPassword(input.password, input.email);
  const displayName = input.display_name.trim();
  if (displayName === '') throw invalidField('display_name', 'required', 'must not be blank');
  const passwordHash = await ctx.passwords.hash(input.password);
  return await command(ctx, async (work) => {
    const { sql } = work;
    await query(sql).run`select pg_advisory_xact_lock(${FIRST_USER_LOCK})`;
    if (await sql('users').first('id')) {
      const policy = await requireOpenRegistration(sql);
      if (!policy.allows(input.email)) {
        throw invalidField('email', 'domain_not_allowed', 'is of a domain that may not register');
      }
      const request = randomUUID();
      await storeRegistration(sql, request, {
        email: input.email,
        display_name: displayName,
        password_hash: passwordHash,
      });
      await enqueueJob(ctx, work, registrationJob, { request });
      work.emit({
        event_type: 'auth.registration_requested',
        data: { email: input.email, address: input.address },
      });
      return undefined;
    }
    await useSetupToken(sql, input.setup_token);
    const [user] = (await insertUsers(
      work,
      [{ email: input.email, display_name: displayName, role: 'admin', password_hash: passwordHash }],
      { event_type: 'auth.registered', data: { role: 'admin', address: input.address } },
    )) as [UserRow];
    return await limited(sql, { userId: user.id, role: 'admin', tokenVersion: user.token_version });
  });
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
 * Creates a new set-up token if the workspace has no users; older ones become invalid.
 * @returns the token, or undefined if there is a user.
 */
export async function issueSetupToken(db: Ctx['db']): Promise<string | undefined> {
  const token = randomSecret();
  return await inTransaction(db, async (sql) => {
    await query(sql).run`select pg_advisory_xact_lock(${FIRST_USER_LOCK})`;
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
 * Creates the first administrator if the workspace has no users.
 * @returns whether it was created.
 */
export async function createFirstAdministrator(ctx: Ctx, email: string, password: string): Promise<boolean> {
  requireGoodPassword(password, email);
  const passwordHash = await ctx.passwords.hash(password);
  return await command(ctx, async (work) => {
    await query(work.sql).run`select pg_advisory_xact_lock(${FIRST_USER_LOCK})`;
    if (await work.sql('users').first('id')) return false;
    await insertUsers(work, [
      { email, display_name: 'Administrator', role: 'admin', password_hash: passwordHash },
    ]);
    return true;
  });
}
