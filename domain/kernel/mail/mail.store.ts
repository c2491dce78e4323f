import type { Sql } from '../../../platform/database.ts';
import type { Mail } from './mail.enqueue.ts';

/**
 * What has become of a mail: taken by the mail server, given up since none is set up, refused for good, or handed
 * over without the server's answer having arrived.
 */
export type MailOutcome = 'sent' | 'not_configured' | 'refused' | 'unconfirmed';

/** A mail as it is stored; `content` is gone once there is an outcome. */
export interface StoredMail {
  id: string;
  recipient: string;
  content: Omit<Mail, 'to'> | null;
  handed_over_at: Date | null;
  outcome: MailOutcome | null;
}

export async function loadMail(sql: Sql, id: string): Promise<StoredMail | undefined> {
  return await sql('mails').where({ id }).first('id', 'recipient', 'content', 'handed_over_at', 'outcome');
}

/** Notes that the mail server may have the mail from now on. */
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
