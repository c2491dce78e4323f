import type { Knex } from 'knex';
import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { defineJob } from '../jobs/jobs.define.ts';
import { JOBS_CHANNEL, type JobRights } from '../jobs/jobs.enqueue.ts';

/** One mail to one person. */
export interface Mail {
  /** A bare address, as `ada@example.com`. */
  to: string;
  subject: string;
  /** What readers see that show no HTML; lines end with a newline. */
  text: string;
  /** The same as HTML, in which whatever users have written is escaped. */
  html?: string;
  /** The id of a stored file that goes with it; read when the mail is sent. */
  attachment?: string;
}

// no quotes, brackets, separators or blanks: an address can never be read as two, or as a header
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u;

/** Whether mail can be sent to the address. */
export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text);
}

// RFC 2606, 2: the addresses of service accounts and of erased people end so
const NOBODY = /\.invalid$/i;

/**
 * Asks for a mail in the caller's transaction: it goes out when, and only when, that commits, through a job with
 * retries. Without a mail server in the settings the job ends well and says so; the mail is not kept.
 * @throws EstateError `validation_failed` when `to` is no address.
 */
export async function enqueueMail(sql: Knex.Transaction, ctx: Ctx, mail: Mail): Promise<void> {
  if (!isMailAddress(mail.to))
    throw invalidField('email', 'format', 'is no address that mail can be sent to');
  await enqueueMails(sql, ctx, [mail]);
}

/** The same for many, in one statement; those whose address takes no mail are left out, programs and
 * the erased among them. */
export async function enqueueMails(sql: Knex.Transaction, ctx: Ctx, mails: Mail[]): Promise<void> {
  const rows = mails
    .filter(({ to }) => isMailAddress(to) && !NOBODY.test(to))
    .map(({ to, ...content }) => ({
      recipient: to,
      content: { ...content, subject: oneLine(content.subject) },
    }));
  if (rows.length === 0) return;
  // the service's own: it goes out also when anyone who asked for it is no longer active
  const rights: JobRights = { permissions: '*' };
  await sql.raw(
    `with made as (
       insert into mails (recipient, content)
       select recipient, content from jsonb_to_recordset(?::jsonb) as g(recipient text, content jsonb) returning id
     ), asked as (
       insert into jobs (kind, queue, payload, rights, request_id)
       select ?, ?, jsonb_build_object('mail_id', id), ?::jsonb, ? from made returning id
     )
     select count(*), pg_notify(?, '') from asked`,
    [JSON.stringify(rows), mailJob.kind, mailJob.queue, JSON.stringify(rights), ctx.requestId, JOBS_CHANNEL],
  );
}

/** A subject is one line of at most 200 characters. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
}

/**
 * The state of a mail: taken by the mail server, given up since none is set up, refused for good, or handed
 * over without the server's answer having arrived.
 */
type MailOutcome = 'sent' | 'not_configured' | 'refused' | 'unconfirmed';

/** A mail as it is stored; `content` is gone once there is an outcome. */
interface StoredMail {
  id: string;
  recipient: string;
  content: Omit<Mail, 'to'> | null;
  handed_over_at: Date | null;
  outcome: MailOutcome | null;
}

export async function loadMail(sql: Sql, id: string): Promise<StoredMail | undefined> {
  return await sql('mails').where({ id }).first('id', 'recipient', 'content', 'handed_over_at', 'outcome');
}

/** Records that the mail server may have the mail from now on. */
export async function noteHandOver(sql: Sql, id: string): Promise<void> {
  await sql('mails').where({ id }).update({ handed_over_at: sql.fn.now() });
}

/** Takes the note back: the server has said that it does not take the mail. */
export async function takeBackHandOver(sql: Sql, id: string): Promise<void> {
  await sql('mails').where({ id }).update({ handed_over_at: null });
}

/** Ends the mail and forgets its content. That it was sent outdoes what another run has concluded meanwhile. */
export async function endMail(sql: Sql, id: string, outcome: MailOutcome): Promise<void> {
  await sql('mails')
    .where({ id })
    .where((open) => {
      open.whereNull('outcome');
      if (outcome === 'sent') open.orWhere({ outcome: 'unconfirmed' });
    })
    .update({ outcome, content: null, finished_at: sql.fn.now() });
}

/** Gives one mail to the mail server. A server that is away is tried again for about a day. */
export const mailJob = defineJob({
  kind: 'mail',
  queue: 'mail',
  payload: Type.Object({ mail_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 55,
  longestWaitSeconds: 1800,
  retentionDays: 30,
  resumable: false,
});
