import Type from 'typebox';
import { command } from '../kernel/command.ts';
import type { Ctx } from '../kernel/context.ts';
import { defineJob } from '../kernel/jobs/jobs.define.ts';
import { enqueueJob } from '../kernel/jobs/jobs.enqueue.ts';
import type { RunningJob } from '../kernel/jobs/jobs.running.ts';
import { enqueueMail, mailConfigured } from '../kernel/mail/mail.enqueue.ts';
import { lockRow } from '../kernel/resources/rows.ts';
import { object } from '../kernel/shapes.ts';
import { limited, refuseWithSso, type TokenSubject } from './access.login.ts';
import { passwordResetMail } from './access.mails.ts';
import { requireGoodPassword } from './access.passwords.ts';
import { byAddress, throttle } from './access.throttle.ts';
import { issueMailedTokens, type MailedPurpose, readTokenUser, unknownToken } from './one-time-tokens.ts';
import { storePassword } from './passwords.store.ts';
import { User, type UserRow } from './users.model.ts';

/**
 * Requests a mail to reset a forgotten password. The account is only looked up by the job, so that neither the response
 * nor its duration shows whether it exists.
 * @returns whether a mail server is configured, without which nothing is sent.
 * @throws EstateError `sso_required`, `too_many_requests`.
 */
export async function requestPasswordReset(
  ctx: Ctx,
  input: { email: string; address: string },
): Promise<boolean> {
  const { email, address } = input;
  await throttle(ctx.db, 'password', [byAddress(address), `account ${email}`]);
  await refuseWithSso(ctx.db);
  return await command(ctx, async (work) => {
    const isSent = await mailConfigured(work.sql);
    if (isSent) await enqueueJob(ctx, work, passwordResetJob, { email });
    work.emit({ event_type: 'auth.password_reset_requested', data: { email, address } });
    return isSent;
  });
}

/** Looks up the account of the address from the request, and mails a link. */
export const passwordResetJob = defineJob({
  kind: 'password_reset',
  queue: 'routine',
  payload: object({ email: Type.String({ maxLength: 320 }) }),
  attempts: 5,
  retentionDays: 1,
  resumable: false,
});

/** Mails the link if the address belongs to an active user with a local password. */
export async function sendPasswordReset(job: RunningJob<{ email: string }>): Promise<void> {
  await command(job.ctx, async (work) => {
    const user = await work
      .sql('users')
      .whereRaw('lower(email) = lower(?)', [job.payload.email])
      .where({ is_active: true, kind: 'person', auth_provider: 'local' })
      .whereNotNull('password_hash')
      .forUpdate()
      .first('id', 'email', 'display_name');
    if (user) {
      const [token] = await issueMailedTokens(work.sql, 'password-reset', [user.id]);
      await enqueueMail(work.sql, job.ctx, await passwordResetMail(work.sql, user, token!));
    }
    await job.finish(work, { result: null });
  });
}

/** The user of the token. @throws EstateError `not_found`, `too_many_requests`. */
export async function validateMailedToken(
  ctx: Ctx,
  purpose: MailedPurpose,
  input: { token: string; address: string },
): Promise<{ valid: true; email: string; display_name: string }> {
  await throttle(ctx.db, 'setup', [byAddress(input.address)]);
  const { email, display_name } = await readTokenUser(ctx, ctx.db, purpose, input.token);
  return { valid: true, email, display_name };
}

export interface NewPassword {
  token: string;
  password: string;
  /** The client's network address. */
  address: string;
}

/**
 * Sets the first password of an invited user and logs them in.
 * @throws EstateError `not_found` for an invalid token, `validation_failed`, `too_many_requests`.
 */
export async function setInvitedPassword(ctx: Ctx, input: NewPassword): Promise<TokenSubject> {
  return await useMailedToken(ctx, 'invitation', input, async (sql, user) =>
    // Setting the password has increased the token version.
    limited(sql, { userId: user.id, role: user.role, tokenVersion: user.token_version + 1 }),
  );
}

/**
 * Replaces a forgotten password. All logins end; a second factor remains.
 * @throws EstateError `not_found` for an invalid token, `validation_failed`, `too_many_requests`.
 */
export async function resetPassword(ctx: Ctx, input: NewPassword): Promise<void> {
  await useMailedToken(ctx, 'password-reset', input, async () => undefined);
}

async function useMailedToken<T>(
  ctx: Ctx,
  purpose: MailedPurpose,
  input: NewPassword,
  after: (sql: Ctx['db'], user: UserRow) => Promise<T>,
): Promise<T> {
  await throttle(ctx.db, 'setup', [byAddress(input.address)]);
  await refuseWithSso(ctx.db);
  const holder = await readTokenUser(ctx, ctx.db, purpose, input.token);
  requireGoodPassword(input.password, holder.email);
  const hash = await ctx.passwords.hash(input.password);
  return await command(ctx, async (work) => {
    const user = await lockRow(work.sql, User, { id: holder.id });
    if (!user?.is_active || user.kind !== 'person' || user.auth_provider !== 'local') throw unknownToken();
    // A concurrent request with the token waits for the lock, then finds it used.
    await readTokenUser(ctx, work.sql, purpose, input.token);
    await storePassword(work, user, hash, purpose);
    return await after(work.sql, user);
  });
}
