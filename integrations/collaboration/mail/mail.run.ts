import { setTimeout as delay } from 'node:timers/promises';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import {
  clearHandOver,
  endMail,
  loadMail,
  recordHandOver,
} from '../../../domain/kernel/mail/mail.enqueue.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { inTransaction, isConnectionLoss } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { readAttachment } from './mail.attachment.ts';
import { composeMail } from './mail.compose.ts';
import { logFailure, publicFailure } from './mail.send.ts';
import { readMailServer } from './mail.server.ts';
import { deliver, SmtpFailure } from './mail.smtp.ts';

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
  if (mail?.outcome === 'unconfirmed' || (mail?.handed_over_at && mail.outcome === null)) {
    await endMail(db, mail.id, 'unconfirmed');
    throw new EstateError(
      'mail_unconfirmed',
      'The mail was sent to the mail server, but the response was lost. It is not sent again.',
    );
  }
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
          await recordHandOver(sql, mail.id);
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
  await retryWrite(() => (kind === 'temporary' ? clearHandOver(db, id) : endMail(db, id, kind)));
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
