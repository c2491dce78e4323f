import MailComposer from 'nodemailer/lib/mail-composer';
import type { Mail } from '../../../domain/kernel/mail/mail.enqueue.ts';
import type { MailServer } from './mail.server.ts';

/** A file attached to a mail. */
export interface MailAttachment {
  name: string;
  mediaType: string;
  content: Buffer;
}

/**
 * Composes the MIME message. The library encodes every header; it never reads files or URLs that occur in texts.
 * @param id identifies the mail: the same for every attempt, so that a duplicate can be recognised.
 */
export async function composeMail(
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
