import type { Knex } from 'knex';
import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { JOBS_CHANNEL, type JobRights } from '../jobs/jobs.enqueue.ts';
import { mailJob } from './mail.job.ts';

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
  // the service's own: it goes out also when whoever asked for it is no longer active
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
