import { randomUUID } from 'node:crypto';
import { randomSecret, sha256 } from '../../platform/crypto.ts';
import { inTransaction, query, type Sql } from '../../platform/database.ts';
import { EstateError, invalidField, requireText } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { defineJob } from '../kernel/jobs/jobs.define.ts';
import { enqueueJob } from '../kernel/jobs/jobs.enqueue.ts';
import type { RunningJob } from '../kernel/jobs/jobs.running.ts';
import { enqueueMails } from '../kernel/mail/mail.enqueue.ts';
import { readOneTimeToken, storeOneTimeToken, takeOneTimeToken } from '../kernel/one-time-tokens.ts';
import { loadSettings, registrationOpen } from '../kernel/settings/settings.read.ts';
import { object, Uuid } from '../kernel/shapes.ts';
import { firstLocale } from './access.entry.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { approvalMail, knownAddressMail, registrationMail } from './access.mails.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { byAddress, throttle } from './access.throttle.ts';
import { unknownToken } from './one-time-tokens.ts';
import { insertUser } from './users.store.ts';

/** A registration, stored until the address is confirmed, for at most one day. */
interface Registration {
  email: string;
  display_name: string;
  password_hash: string;
}

/** Hours after which an unconfirmed registration expires. */
const REGISTRATION_HOURS = 24;
/** Ten years. */
const SETUP_SECONDS = 10 * 366 * 24 * 3600;
const REQUESTED = 'registration-requested';
const MAILED = 'registration';

/**
 * The policy of self-registration.
 * @throws EstateError `registration_closed` if it is disabled, users log in through a provider, or mail is not
 * configured.
 */
async function requireOpenRegistration(sql: Sql) {
  const settings = await loadSettings(sql);
  if (!registrationOpen(settings)) {
    throw new EstateError('registration_closed', 'Self-registration is switched off; ask an administrator.');
  }
  const { role, approval_required, allowed_domains } = settings.values.registration_policy;
  const domains = allowed_domains.map((domain) => domain.toLowerCase());
  return {
    role,
    approvalRequired: approval_required,
    allows: (email: string) =>
      domains.length === 0 || domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase()),
  };
}

async function storeRegistration(
  sql: Sql,
  purpose: typeof REQUESTED | typeof MAILED,
  hash: string,
  data: Registration,
): Promise<void> {
  await storeOneTimeToken(sql, { purpose, hash, data, seconds: REGISTRATION_HOURS * 3600 });
}

interface RegisterInput {
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
  const displayName = requireText(input.display_name, 'display_name');
  const passwordHash = await ctx.passwords.hash(input.password);
  return await command(ctx, async (work) => {
    const { sql } = work;
    await query(sql).run`select pg_advisory_xact_lock(${FIRST_USER_LOCK})`;
    if (await sql('users').first('id')) {
      if (!(await requireOpenRegistration(sql)).allows(input.email)) {
        throw invalidField('email', 'domain_not_allowed', 'is of a domain that may not register');
      }
      const request = randomUUID();
      const account = { email: input.email, display_name: displayName, password_hash: passwordHash };
      await storeRegistration(sql, REQUESTED, request, account);
      await enqueueJob(ctx, work, registrationJob, { request });
      const data = { email: input.email, address: input.address };
      work.emit({ event_type: 'auth.registration_requested', data });
      return undefined;
    }
    await useSetupToken(sql, input.setup_token);
    const user = await insertUser(
      work,
      { email: input.email, display_name: displayName, role: 'admin', password_hash: passwordHash },
      { event_type: 'auth.registered', data: { role: 'admin', address: input.address } },
    );
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
    const hash = sha256(token);
    await storeOneTimeToken(sql, { hash, purpose: 'first-administrator', seconds: SETUP_SECONDS });
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
    await insertUser(work, {
      email,
      display_name: 'Administrator',
      role: 'admin',
      password_hash: passwordHash,
    });
    return true;
  });
}

/** Looks up whether the address of a registration has an account, and mails accordingly. */
export const registrationJob = defineJob({
  kind: 'registration',
  queue: 'routine',
  payload: object({ request: Uuid }),
  attempts: 5,
  retentionDays: 1,
  resumable: false,
});

/**
 * Mails the token that confirms the address of a registration. Users who already have an account get a mail that says so.
 */
export async function sendRegistration(job: RunningJob<{ request: string }>): Promise<void> {
  await command(job.ctx, async (work) => {
    const { sql } = work;
    const registration = await takeOneTimeToken<Registration>(sql, REQUESTED, job.payload.request);
    if (registration) {
      const known = await sql('users')
        .whereRaw('lower(email) = lower(?)', [registration.email])
        .first('email', 'display_name', 'is_active', 'kind');
      if (!known) {
        const token = randomSecret();
        await storeRegistration(sql, MAILED, sha256(token), registration);
        await enqueueMails(sql, job.ctx, [await registrationMail(sql, registration, token)]);
      } else if (known.is_active && known.kind === 'person') {
        await enqueueMails(sql, job.ctx, [await knownAddressMail(sql, known)]);
      }
    }
    await job.finish(work, { result: null });
  });
}

/**
 * Creates the account of a registration, given the mailed token and the password.
 * @returns undefined if an administrator has to activate the account.
 * @throws EstateError `not_found` for an invalid token, `invalid_credentials` for a wrong password,
 * `registration_closed`, `too_many_requests`.
 */
export async function confirmRegistration(
  ctx: Ctx,
  input: { token: string; password: string; address: string; languages: readonly string[] },
): Promise<TokenSubject | undefined> {
  const hash = sha256(input.token);
  await throttle(ctx.db, 'setup', [byAddress(input.address), `token ${hash}`]);
  const found = await readOneTimeToken<Registration>(ctx.db, MAILED, hash);
  if (!found) throw unknownToken();
  if (!(await ctx.passwords.verify(input.password, found.password_hash))) {
    throw new EstateError('invalid_credentials', 'The password is not the one that was registered with.');
  }
  return await command(ctx, async (work) => {
    const { sql } = work;
    const policy = await requireOpenRegistration(sql);
    // A second request with the token finds it used.
    const registration = await takeOneTimeToken<Registration>(sql, MAILED, hash);
    if (!registration) throw unknownToken();
    const role = await sql('roles').where({ key: policy.role, is_archived: false }).first('key');
    if (!role || !policy.allows(registration.email)) {
      const detail = 'Registration has changed meanwhile; ask an administrator.';
      throw new EstateError('registration_closed', detail);
    }
    const waits = policy.approvalRequired;
    const user = await insertUser(
      work,
      {
        ...registration,
        role: policy.role,
        is_active: !waits,
        locale: await firstLocale(sql, input.languages),
      },
      {
        event_type: 'auth.registered',
        data: { role: policy.role, address: input.address, approval_required: waits },
      },
    ).catch((error) => {
      // The address got an account since the mail was sent.
      throw error instanceof EstateError && error.code === 'email_taken' ? unknownToken() : error;
    });
    if (!waits) {
      return await limited(sql, { userId: user.id, role: policy.role, tokenVersion: user.token_version });
    }
    await enqueueMails(
      sql,
      ctx,
      await Promise.all((await administrators(sql)).map((admin) => approvalMail(sql, admin, user))),
    );
    return undefined;
  });
}

async function administrators(sql: Sql): Promise<{ email: string; display_name: string }[]> {
  return await sql('users')
    .where({ role: 'admin', is_active: true, kind: 'person' })
    .select('email', 'display_name');
}
