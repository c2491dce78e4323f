import { buffer } from 'node:stream/consumers';
import { openContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { notFound } from '../../../platform/errors.ts';
import type { MailAttachment } from './mail.compose.ts';

/** Reads the attachment of a mail into memory. @throws EstateError `not_found` if it is no longer stored. */
export async function readAttachment(
  { db, blobs }: Services,
  id: string | undefined,
): Promise<MailAttachment | undefined> {
  if (id === undefined) return undefined;
  const file = await db('files').where({ id }).first('name', 'media_type');
  if (!file) throw notFound('file', id);
  return { name: file.name, mediaType: file.media_type, content: await buffer(await openContent(blobs, id)) };
}
