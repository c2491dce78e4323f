import { channelContext } from '../../../domain/collaboration/channels/channels.commands.ts';
import type { ChannelRow } from '../../../domain/collaboration/channels/channels.model.ts';
import { recordEvents } from '../../../domain/kernel/command.ts';
import type { JobResult, RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { clearSendStart, endMail, recordSendStart } from '../../../domain/kernel/mail/mail.enqueue.ts';
import type { MailParts } from '../../../domain/kernel/mail/mail.templates.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { appVersion } from '../../../domain/kernel/version.ts';
import { inTransaction, query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { notConnected } from '../../../platform/outbound.rules.ts';
import { OutboundRefusal } from '../../../platform/outbound.ts';
import { slackMessage, teamsMessage } from './channel.messages.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The longest time that a service may ask to wait, in seconds. */
const MOST_WAIT = 3_600;

/** Answers after which the address will never work again, with advice. */
const GONE: ReadonlyMap<number, string> = new Map([
  [401, 'the address is not accepted: create a new webhook'],
  [403, 'the address is not accepted: create a new webhook, and look whether the workspace allows it'],
  [404, 'the webhook was revoked or deleted: create a new one'],
  [410, 'the channel was archived or the webhook revoked: create a new one'],
]);

type Job = RunningJob<{ mail_id: string }>;

/**
 * Sends a stored message to a channel. As with mails, the row is marked before the message is sent: one whose response is lost
 * is never sent again.
 * @throws EstateError `upstream_failed` (retried), `mail_refused`, `mail_unconfirmed`.
 */
export async function runMessage(
  job: Job,
  services: Services,
  mailId: string,
  channelId: string,
  parts: MailParts,
): Promise<JobResult> {
  const { db } = services;
  const channel = await query(db).row<
    Pick<ChannelRow, 'id' | 'kind' | 'secret' | 'status'> & { waits: boolean }
  >`
    select id, kind, secret, status, coalesce(waits_until > now(), false) as waits
    from channels where id = ${channelId}`;
  if (!channel || channel.status === 'paused') {
    await endMail(db, mailId, 'refused');
    throw new EstateError('mail_refused', 'The channel is paused or gone.');
  }
  if (channel.waits) throw new EstateError('upstream_failed', 'The channel asked to wait.');
  const url = services.secrets.open(channel.secret, channelContext(channelId));
  const message = channel.kind === 'slack' ? slackMessage(parts) : teamsMessage(parts);
  await inTransaction(db, async (sql) => {
    await recordSendStart(sql, mailId);
    await job.checkpoint({ sql }, {});
  });
  const status = await post(job, services, mailId, url, message);
  if (status.code >= 200 && status.code < 300) {
    await endMail(db, mailId, 'sent');
    await query(db).run`update channels set last_sent_at = now() where id = ${channelId}`;
    return { result: { outcome: 'sent' } };
  }
  if (status.code === 429 || status.code >= 500 || status.code === 408) {
    await clearSendStart(db, mailId);
    await query(db)
      .run`update channels set waits_until = now() + make_interval(secs => ${status.wait}::float8)
      where id = ${channelId} and ${status.wait} > 0`;
    throw new EstateError('upstream_failed', `The channel responded with ${status.code}.`);
  }
  await endMail(db, mailId, 'refused');
  const advice = GONE.get(status.code);
  if (advice) await pause(job, services, channelId, `It responded with ${status.code}: ${advice}.`);
  throw new EstateError('mail_refused', `The channel responded with ${status.code}.`);
}

async function post(
  job: Job,
  { db, outbound }: Services,
  mailId: string,
  url: string,
  message: object,
): Promise<{ code: number; wait: number }> {
  try {
    const { status, headers } = await outbound.request(url, {
      method: 'POST',
      headers: { 'user-agent': `Estate/${appVersion}`, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(message),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
    });
    const wait = Number(headers['retry-after']);
    return { code: status, wait: wait > 0 ? Math.min(wait, MOST_WAIT) : 0 };
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    if (error instanceof OutboundRefusal || (code !== undefined && notConnected.has(code))) {
      await clearSendStart(db, mailId);
      job.ctx.log.info({ code }, 'a channel could not be reached');
      throw new EstateError('upstream_failed', 'The channel could not be reached.');
    }
    await endMail(db, mailId, 'unconfirmed');
    throw new EstateError(
      'mail_unconfirmed',
      'The message was sent, but the response was lost. It is not sent again.',
    );
  }
}

/** Pauses a channel that no longer works, and tells its owner. */
async function pause({ ctx }: Job, { db }: Services, id: string, reason: string): Promise<void> {
  await inTransaction(db, async (sql) => {
    const row = await query(sql).row<{ name: string; owner_id: string }>`update channels
      set status = 'paused', paused_reason = ${reason}, updated_at = clock_timestamp()
      where id = ${id} and status = 'active' returning name, owner_id`;
    if (!row) return;
    const changes = { status: { old: 'active', new: 'paused' }, paused_reason: { old: null, new: reason } };
    const data = { id, name: row.name, reason, changes };
    await recordEvents(
      sql,
      ctx,
      [{ event_type: 'channel.paused', user_id: null, recipient_id: row.owner_id, data }],
      [],
    );
  });
}
