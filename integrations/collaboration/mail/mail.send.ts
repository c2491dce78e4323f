import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import MailComposer from 'nodemailer/lib/mail-composer';
import { openContent } from '../../../domain/kernel/files/files.store.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import {
  clearSendStart,
  endMail,
  isMailAddress,
  loadMail,
  type Mail,
  recordSendStart,
} from '../../../domain/kernel/mail/mail.enqueue.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  readSecret,
  readSetting,
  type SettingValues,
} from '../../../domain/kernel/settings/settings.read.ts';
import { inTransaction, isConnectionLoss } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { runMessage } from '../channels/channel.send.ts';
import { SmtpFailure } from './mail.failure.ts';
import { deliver, type MailServer, type SmtpTimeouts } from './mail.smtp.ts';

/** The mail server of the settings; undefined if none is configured. */
async function readMailServer({ db, secrets }: Services): Promise<MailServer | undefined> {
  const email = await readSetting(db, 'email');
  if (email.smtp_host === '') return undefined;
  const secret = await readSecret(db, secrets, 'email');
  return {
    host: email.smtp_host,
    port: email.smtp_port,
    tls: email.smtp_tls,
    login: email.smtp_user === '' ? undefined : loginOf(email, secret),
    from: { name: (await readSetting(db, 'app_title')) || 'Estate', address: email.smtp_from },
  };
}

/** @param secret the password, or the secret of the client. */
function loginOf(email: SettingValues['email'], secret: string): NonNullable<MailServer['login']> {
  const { smtp_user: user, smtp_auth, oauth_token_url, oauth_client_id, oauth_scope } = email;
  if (smtp_auth === 'password') return { user, password: secret };
  const client = { tokenUrl: oauth_token_url, clientId: oauth_client_id, scope: oauth_scope };
  return { user, client: { ...client, clientSecret: secret } };
}

/** A file attached to a mail. */
interface MailAttachment {
  name: string;
  mediaType: string;
  content: Buffer;
}

/**
 * Composes the MIME message. The library encodes every header; it never reads files or URLs that occur in texts.
 * @param id identifies the mail: the same for every attempt, so that a duplicate can be recognised.
 */
async function composeMail(
  mail: Mail,
  from: MailServer['from'],
  id: string,
  attachment?: MailAttachment,
): Promise<Buffer> {
  const composer = new MailComposer({
    from,
    to: { name: '', address: mail.to },
    subject: mail.subject,
    text: mail.text,
    ...(mail.html === undefined ? {} : { html: mail.html }),
    ...(attachment === undefined
      ? {}
      : {
          attachments: [
            { filename: attachment.name, contentType: attachment.mediaType, content: attachment.content },
          ],
        }),
    messageId: `<${id}@${from.address.split('@')[1] || 'localhost'}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}

/** Reads the attachment of a mail into memory. @throws EstateError `not_found` if it is no longer stored. */
async function readAttachment(
  { db, blobs }: Services,
  id: string | undefined,
): Promise<MailAttachment | undefined> {
  if (id === undefined) return undefined;
  const file = await db('files').where({ id }).first('name', 'media_type');
  if (!file) throw notFound('file', id);
  return { name: file.name, mediaType: file.media_type, content: await buffer(await openContent(blobs, id)) };
}

/** Short timeouts, since a user waits for the response. */
const timeouts: SmtpTimeouts = { connect: 5_000, silence: 15_000 };

/**
 * Sends a mail immediately, without a job, to test the settings.
 * @throws EstateError `mail_not_configured`, `mail_refused`, `mail_unconfirmed`, `upstream_failed`, with a message for
 * administrators.
 */
export async function sendNow(services: Services, mail: Mail): Promise<void> {
  const server = await readMailServer(services);
  if (!server)
    throw new EstateError(
      'mail_not_configured',
      'No mail server is configured; set one with PATCH /api/v1/settings/email.',
    );
  if (!isMailAddress(mail.to))
    throw new EstateError('mail_refused', 'The address is not a valid mail address.');
  const raw = await composeMail(mail, server.from, randomUUID());
  try {
    await deliver(services.outbound, server, { from: server.from.address, to: mail.to, raw }, timeouts);
  } catch (error) {
    logFailure(services, error);
    throw publicFailure(error);
  }
}

/** Logs the details that the message for users omits. */
function logFailure({ log }: Pick<Services, 'log'>, error: unknown): void {
  if (!(error instanceof SmtpFailure)) return;
  const { code, message } = (error.cause ?? {}) as { code?: unknown; message?: unknown };
  log.info({ kind: error.kind, code, cause: message }, 'a mail was not accepted');
}

/** The error of the job or the request. */
function publicFailure(error: unknown): unknown {
  if (!(error instanceof SmtpFailure)) return error;
  const code = (
    { refused: 'mail_refused', unconfirmed: 'mail_unconfirmed', temporary: 'upstream_failed' } as const
  )[error.kind];
  return new EstateError(code, error.message, { cause: error });
}

const RETRY_MS = 500;
const RETRIES = 60;

/**
 * Sends a stored mail. The row is marked before the final dot is sent: if a later attempt finds the mark, the server may have
 * accepted the mail, and it is never sent again.
 * @throws EstateError `upstream_failed` (retried), `mail_refused`, `mail_unconfirmed`.
 */
export async function runMail(job: RunningJob<{ mail_id: string }>, services: Services): Promise<JobResult> {
  const { db } = services;
  const mail = await loadMail(db, job.payload.mail_id);
  if (mail?.outcome === 'unconfirmed' || (mail?.submitted_at && mail.outcome === null)) {
    await endMail(db, mail.id, 'unconfirmed');
    const detail = 'The mail was sent to the mail server, but the response was lost. It is not sent again.';
    throw new EstateError('mail_unconfirmed', detail);
  }
  if (mail?.channel_id && mail.content?.parts)
    return await runMessage(job, services, mail.id, mail.channel_id, mail.content.parts);
  if (!mail?.content) return { message: 'nothing to send', result: { outcome: mail?.outcome ?? null } };
  const server = await readMailServer(services);
  if (!server) {
    await endMail(db, mail.id, 'not_configured');
    return { message: 'not sent: no mail server is configured', result: { outcome: 'not_configured' } };
  }
  const attachment = await readAttachment(services, mail.content.attachment);
  const raw = await composeMail({ ...mail.content, to: mail.recipient }, server.from, mail.id, attachment);
  try {
    await deliver(services.outbound, server, {
      from: server.from.address,
      to: mail.recipient,
      raw,
      signal: job.signal,
      beforeEnd: () =>
        inTransaction(db, async (sql) => {
          await recordSendStart(sql, mail.id);
          await job.checkpoint({ sql }, {});
        }),
    });
  } catch (error) {
    logFailure(services, error);
    if (error instanceof SmtpFailure) await recordFailure(services, mail.id, error);
    throw publicFailure(error);
  }
  await retryWrite(() => endMail(db, mail.id, 'sent'));
  return { result: { outcome: 'sent' } };
}

/** Records the outcome of a failure. */
async function recordFailure({ db }: Services, id: string, { kind }: SmtpFailure): Promise<void> {
  await retryWrite(() => (kind === 'temporary' ? clearSendStart(db, id) : endMail(db, id, kind)));
}

/** Retries a write while the database is briefly unavailable. */
async function retryWrite(write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConnectionLoss(error) || attempt >= RETRIES) throw error;
      await delay(RETRY_MS);
    }
  }
}
