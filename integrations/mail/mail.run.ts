import { setTimeout as delay } from 'node:timers/promises';
import type { JobResult, RunningJob } from '../../domain/kernel/jobs/jobs.running.ts';
import { endMail, loadMail, noteHandOver, takeBackHandOver } from '../../domain/kernel/mail/mail.enqueue.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { inTransaction, isConnectionLoss } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import { readAttachment } from './mail.attachment.ts';
import { composeMail } from './mail.compose.ts';
import { noteFailure, publicFailure } from './mail.send.ts';
import { readMailServer } from './mail.server.ts';
import { deliver, SmtpFailure } from './mail.smtp.ts';

const RETRY_MS = 500;
const RETRIES = 60;

/**
 * Sends a stored mail. Its last byte is given to the server only after the row says so: a run that finds the row so
 * marked cannot know whether the server has taken the mail, and never sends it again.
 * @throws EstateError `upstream_failed` (tried again), `mail_refused`, `mail_unconfirmed`.
 */
export async function runMail(job: RunningJob<{ mail_id: string }>, services: Services): Promise<JobResult> {
  const { db } = services;
  const mail = await loadMail(db, job.payload.mail_id);
  if (mail?.outcome === 'unconfirmed' || (mail?.handed_over_at && mail.outcome === null)) {
    await endMail(db, mail.id, 'unconfirmed');
    throw new EstateError(
      'mail_unconfirmed',
      'The mail was given to the mail server, but its answer was lost. It is not sent again.',
    );
  }
  if (!mail?.content)
    return { message: 'there is nothing left to send', result: { outcome: mail?.outcome ?? null } };
  const server = await readMailServer(services);
  if (!server) {
    await endMail(db, mail.id, 'not_configured');
    return { message: 'not sent: no mail server is set up', result: { outcome: 'not_configured' } };
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
          await noteHandOver(sql, mail.id);
          await job.checkpoint({ sql }, {});
        }),
    });
  } catch (error) {
    noteFailure(services, error);
    if (error instanceof SmtpFailure) await settle(services, mail.id, error);
    throw publicFailure(error);
  }
  await insist(() => endMail(db, mail.id, 'sent'));
  return { result: { outcome: 'sent' } };
}

/** Notes what a failure means for the mail. */
async function settle({ db }: Services, id: string, { kind }: SmtpFailure): Promise<void> {
  await insist(() => (kind === 'temporary' ? takeBackHandOver(db, id) : endMail(db, id, kind)));
}

/** Writes what is known about a mail also when the database is away for a moment. */
async function insist(write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isConnectionLoss(error) || attempt >= RETRIES) throw error;
      await delay(RETRY_MS);
    }
  }
}
