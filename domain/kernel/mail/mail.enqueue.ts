import Type from 'typebox';
import { query, type Sql, type Transaction } from '../../../platform/database.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { defineJob } from '../jobs/jobs.define.ts';
import { JOBS_CHANNEL, type JobRights } from '../jobs/jobs.enqueue.ts';
import { readSetting } from '../settings/settings.read.ts';
import type { MailParts } from './mail.templates.ts';

/** One mail to one recipient. */
export interface Mail {
  /** A bare address, as `ada@example.com`. */
  to: string;
  subject: string;
  /** The plain text; lines end with a newline. */
  text: string;
  /** The same text as HTML, with all user input escaped. */
  html?: string;
  /** The id of a stored file to attach; read when the mail is sent. */
  attachment?: string;
}

// No quotes, brackets, separators or spaces: an address can never be parsed as two, or as a header.
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]{1,255}$/u;

/** Whether mail can be sent to the address. */
export const isMailAddress = (text: string): boolean => ADDRESS.test(text);

// RFC 2606, 2: service accounts and erased users have addresses in these domains.
const NOBODY = /\.invalid$/i;

/** Whether a mail server is configured, without which no mail is sent. */
export const mailConfigured = async (sql: Sql): Promise<boolean> =>
  (await readSetting(sql, 'email')).smtp_host !== '';

/** @throws EstateError `validation_failed` unless mail can be sent to all of them. */
export function requireMailAddresses(addresses: readonly string[]): void {
  if (addresses.every(isMailAddress)) return;
  throw invalidField('email', 'format', 'is no address that mail can be sent to');
}

/**
 * Enqueues a mail in the caller's transaction: it is sent if and only if that commits, by a job with retries. Without a
 * mail server in the settings the job succeeds with this outcome and the mail is deleted. @throws EstateError
 * `validation_failed` if `to` is not an address.
 */
export async function enqueueMail(sql: Transaction, ctx: Ctx, mail: Mail): Promise<void> {
  requireMailAddresses([mail.to]);
  await enqueueMails(sql, ctx, [mail]);
}

/**
 * Enqueues many mails in one statement; recipients who cannot receive mail are skipped, such as service accounts and
 * erased users.
 */
export async function enqueueMails(sql: Transaction, ctx: Ctx, mails: Mail[]): Promise<void> {
  const rows = mails
    .filter(({ to }) => isMailAddress(to) && !NOBODY.test(to))
    .map(({ to, ...content }) => ({
      recipient: to,
      content: { ...content, subject: oneLine(content.subject) },
    }));
  await enqueueRows(sql, ctx, rows);
}

/** Stores outgoing messages, each with its job. */
async function enqueueRows(
  sql: Transaction,
  ctx: Ctx,
  rows: { recipient: string; channel_id?: string; content: object }[],
): Promise<void> {
  if (rows.length === 0) return;
  // Owned by the service: it is also sent if the user who caused it is no longer active.
  const rights: JobRights = { permissions: '*' };
  await query(sql).run`with made as (
       insert into mails (recipient, channel_id, content)
       select recipient, channel_id, content
       from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(recipient text, channel_id uuid, content jsonb)
       returning id
     ), asked as (
       insert into jobs (kind, queue, payload, rights, request_id)
       select ${mailJob.kind}, ${mailJob.queue}, jsonb_build_object('mail_id', id),
       ${JSON.stringify(rights)}::jsonb, ${ctx.requestId} from made returning id
     )
     select count(*), pg_notify(${JOBS_CHANNEL}, '') from asked`;
}

/** A message to a channel, with the contents of a mail. */
export interface Message {
  channel: string;
  parts: MailParts;
}

/** Enqueues messages to channels in the caller's transaction, as mails are. */
export async function enqueueMessages(sql: Transaction, ctx: Ctx, messages: Message[]): Promise<void> {
  const rows = messages.map(({ channel, parts }) => ({
    recipient: '',
    channel_id: channel,
    content: { parts },
  }));
  await enqueueRows(sql, ctx, rows);
}

/** A subject is one line of at most 200 characters. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199).toWellFormed()}…` : line;
}

/**
 * The state of a mail: accepted by the mail server, skipped because none is configured, rejected permanently, or sent
 * without receiving the server's response.
 */
type MailOutcome = 'sent' | 'not_configured' | 'refused' | 'unconfirmed';

/** A stored mail; `content` is deleted when it has an outcome. */
interface StoredMail {
  id: string;
  recipient: string;
  /** Set: the message goes to this channel. */
  channel_id: string | null;
  content: (Omit<Mail, 'to'> & Partial<Pick<Message, 'parts'>>) | null;
  submitted_at: Date | null;
  outcome: MailOutcome | null;
}

export async function loadMail(sql: Sql, id: string): Promise<StoredMail | undefined> {
  return await sql('mails')
    .where({ id })
    .first('id', 'recipient', 'channel_id', 'content', 'submitted_at', 'outcome');
}

/** Records that sending the mail to the server has started. */
export async function recordSendStart(sql: Sql, id: string): Promise<void> {
  await sql('mails').where({ id }).update({ submitted_at: sql.fn.now() });
}

/** Deletes the record of {@link recordSendStart}: the server has not accepted the mail. */
export async function clearSendStart(sql: Sql, id: string): Promise<void> {
  await sql('mails').where({ id }).update({ submitted_at: null });
}

/**
 * Stores the outcome of the mail and deletes its content. `sent` replaces any outcome that another run has stored
 * meanwhile.
 */
export async function endMail(sql: Sql, id: string, outcome: MailOutcome): Promise<void> {
  await sql('mails')
    .where({ id })
    .where((open) => {
      open.whereNull('outcome');
      if (outcome === 'sent') open.orWhere({ outcome: 'unconfirmed' });
    })
    .update({ outcome, content: null, finished_at: sql.fn.now() });
}

/** Sends one mail to the mail server. An unavailable server is retried for about a day. */
export const mailJob = defineJob({
  kind: 'mail',
  queue: 'mail',
  payload: Type.Object({ mail_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
  attempts: 55,
  longestWaitSeconds: 1800,
  retentionDays: 30,
  resumable: false,
});
