import { randomUUID } from 'node:crypto';
import { isMailAddress, type Mail } from '../../../domain/kernel/mail/mail.enqueue.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { EstateError } from '../../../platform/errors.ts';
import { composeMail } from './mail.compose.ts';
import { readMailServer } from './mail.server.ts';
import { deliver, SmtpFailure, type SmtpTimeouts } from './mail.smtp.ts';

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
export function logFailure({ log }: Pick<Services, 'log'>, error: unknown): void {
  if (!(error instanceof SmtpFailure)) return;
  const { code, message } = (error.cause ?? {}) as { code?: unknown; message?: unknown };
  log.info({ kind: error.kind, code, cause: message }, 'a mail was not accepted');
}

/** The error of the job or the request. */
export function publicFailure(error: unknown): unknown {
  if (!(error instanceof SmtpFailure)) return error;
  const code = (
    { refused: 'mail_refused', unconfirmed: 'mail_unconfirmed', temporary: 'upstream_failed' } as const
  )[error.kind];
  return new EstateError(code, error.message, { cause: error });
}
