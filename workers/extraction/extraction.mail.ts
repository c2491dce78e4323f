import type { Knex } from 'knex';
import type { Ctx } from '../../domain/kernel/context.ts';
import { enqueueMails, type Mail } from '../../domain/kernel/mail/mail.enqueue.ts';
import { readSetting } from '../../domain/kernel/settings/settings.read.ts';
import type { Sql } from '../../platform/database.ts';
import { EstateError } from '../../platform/errors.ts';
import type { ExtractionRun } from '../../reports/exchange/schedules/extraction-runs.store.ts';

/** Larger files are linked instead of attached: many mail servers refuse them. */
const MAX_ATTACHED_BYTES = 10 * 1000 * 1000;

/** @throws EstateError `mail_not_configured`. */
export async function requireMailServer(sql: Sql): Promise<void> {
  const { smtp_host } = await readSetting(sql, 'email');
  if (smtp_host === '')
    throw new EstateError(
      'mail_not_configured',
      'No mail server is configured; set one with PATCH /api/v1/settings/email.',
    );
}

/** Enqueues the mails of a run in the transaction that ends it, so that they are sent only once. */
export async function mailRun(
  sql: Knex.Transaction,
  ctx: Ctx,
  run: ExtractionRun & { file_id: string; manifest_id: string },
  recipients: string[],
): Promise<void> {
  const { name, size } = await sql('files').where({ id: run.file_id }).first('name', 'size');
  const attached = Number(size) <= MAX_ATTACHED_BYTES;
  const { app_base_url: base } = await readSetting(sql, 'email');
  const title = (await readSetting(sql, 'app_title')) || 'Estate';
  const path = `/api/v1/extraction-schedules/${run.schedule_id}/runs/${run.id}/file`;
  const where = attached
    ? `It is attached as ${name}.`
    : `It is too large for a mail. Fetch ${name} with your login:\n\n${base.replace(/\/+$/, '')}${path}`;
  const mail: Omit<Mail, 'to'> = {
    subject: `${title}: ${run.schedule_name}`,
    text: `The extraction "${run.schedule_name}" of ${run.slot.toISOString()} is ready.\n\n${where}\n`,
    ...(attached ? { attachment: run.file_id } : {}),
  };
  await enqueueMails(
    sql,
    ctx,
    recipients.map((to) => ({ ...mail, to })),
  );
}
