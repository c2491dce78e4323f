import { randomSecret, sha256 } from '../../platform/crypto.ts';
import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import type { RunningJob } from '../kernel/jobs/jobs.running.ts';
import { enqueueMails } from '../kernel/mail/mail.enqueue.ts';
import { limited, type TokenSubject } from './access.login.ts';
import { approvalMail, knownAddressMail, registrationMail } from './access.mails.ts';
import { byAddress, throttle } from './access.throttle.ts';
import { unknownToken } from './one-time-tokens.ts';
import type { RegistrationPayload } from './registration.job.ts';
import {
  findMailed,
  requireOpenRegistration,
  storeMailed,
  takeMailedRegistration,
  takeRegistration,
} from './registrations.ts';
import { insertUsers, type UserRow } from './users.store.ts';

/**
 * Mails the token that confirms the address of a registration. Users who already have an account get a mail that says so.
 */
export async function sendRegistration(job: RunningJob<RegistrationPayload>): Promise<void> {
  await command(job.ctx, async (work) => {
    const { sql } = work;
    const registration = await takeRegistration(sql, job.payload.request);
    if (registration) {
      const known = await sql('users')
        .whereRaw('lower(email) = lower(?)', [registration.email])
        .first('email', 'display_name', 'is_active', 'kind');
      if (!known) {
        const token = randomSecret();
        await storeMailed(sql, sha256(token), registration);
        await enqueueMails(sql, job.ctx, [await registrationMail(sql, registration, token)]);
      } else if (known.is_active && known.kind === 'person') {
        await enqueueMails(sql, job.ctx, [await knownAddressMail(sql, known)]);
      }
    }
    await job.finish(work, { result: null });
  });
}

export interface ConfirmInput {
  token: string;
  /** The password chosen at registration: access to the mail alone does not suffice to confirm an address. */
  password: string;
  /** The client's network address. */
  address: string;
}

/**
 * Creates the account of a registration, given the mailed token and the password.
 * @returns undefined if an administrator has to activate the account.
 * @throws EstateError `not_found` for an invalid token, `invalid_credentials` for a wrong password,
 * `registration_closed`, `too_many_requests`.
 */
export async function confirmRegistration(ctx: Ctx, input: ConfirmInput): Promise<TokenSubject | undefined> {
  const hash = sha256(input.token);
  await throttle(ctx.db, 'setup', [byAddress(input.address), `token ${hash}`]);
  const found = await findMailed(ctx.db, hash);
  if (!found) throw unknownToken();
  if (!(await ctx.passwords.verify(input.password, found.password_hash))) {
    throw new EstateError('invalid_credentials', 'The password is not the one that was registered with.');
  }
  return await command(ctx, async (work) => {
    const { sql } = work;
    const policy = await requireOpenRegistration(sql);
    // A second request with the token finds it used.
    const registration = await takeMailedRegistration(sql, hash);
    if (!registration) throw unknownToken();
    const role = await sql('roles').where({ key: policy.role, is_archived: false }).first('key');
    if (!role || !policy.allows(registration.email)) {
      throw new EstateError(
        'registration_closed',
        'Registration has changed meanwhile; ask an administrator.',
      );
    }
    const waits = policy.approvalRequired;
    const user = await insertRegistered(
      () =>
        insertUsers(work, [{ ...registration, role: policy.role, is_active: !waits }], {
          event_type: 'auth.registered',
          data: { role: policy.role, address: input.address, approval_required: waits },
        }) as Promise<[UserRow]>,
    );
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

/** The token is invalid if the address got an account since the mail was sent. */
async function insertRegistered(insert: () => Promise<[UserRow]>): Promise<UserRow> {
  try {
    return (await insert())[0];
  } catch (error) {
    throw error instanceof EstateError && error.code === 'email_taken' ? unknownToken() : error;
  }
}

async function administrators(sql: Sql): Promise<{ email: string; display_name: string }[]> {
  return await sql('users')
    .where({ role: 'admin', is_active: true, kind: 'person' })
    .select('email', 'display_name');
}
