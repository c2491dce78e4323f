import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import type { Knex } from 'knex';
import type { BlobStore } from '../../../platform/blobs.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { expireFiles } from '../../collaboration/files/files.attach.ts';
import { checkSvgInThread } from '../../collaboration/files/svg.thread.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { recordFile, storeContent } from '../../kernel/files/files.store.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { StoredImage } from '../../kernel/settings/settings.definition.ts';
import { lockSettings, writeSetting } from './settings.write.ts';

/** The images of a workspace. */
export type ImageSetting = 'logo' | 'favicon';

/** Maximum size of an image in bytes: 1 MiB. */
export const MAX_IMAGE = 1024 * 1024;

/** The media types of images, with their file extensions. */
export const imageTypes = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/x-icon': 'ico',
  'image/webp': 'webp',
} as const;

export type ImageType = keyof typeof imageTypes;

/**
 * Sets an image of the workspace; the previous one is retained like a deleted file.
 * @throws EstateError `forbidden`, `validation_failed` if it is not an image that is safe to display.
 */
export async function setImage(
  ctx: Ctx,
  blobs: BlobStore,
  key: ImageSetting,
  content: Buffer,
): Promise<StoredImage> {
  requirePermission(ctx.caller, 'admin.settings');
  const media_type = await identifyImage(content);
  const stored = await storeContent(blobs, Readable.from([content]));
  const image = { file_id: stored.id, media_type, size: stored.size, sha256: stored.sha256 };
  try {
    const now = await command(ctx, async (work) => {
      const settings = await lockSettings(work.sql);
      const before = settings.values[key];
      if (before?.sha256 === image.sha256 && before.media_type === media_type) return before;
      await recordFile(work.sql, stored, {
        name: `${key}.${imageTypes[media_type]}`,
        mediaType: media_type,
        ownerId: null,
        withCosts: false,
        needs: [],
        expiresAt: null,
      });
      await exchangeImages(work.sql, before, image);
      await writeSetting(work, ctx, settings, key, image);
      return image;
    });
    if (now !== image) await blobs.remove(stored.id);
    return now;
  } catch (error) {
    // After any other error the image may have been set nevertheless.
    if (error instanceof EstateError) await blobs.remove(stored.id);
    throw error;
  }
}

/** Restores the default image. @throws EstateError `forbidden`. */
export async function clearImage(ctx: Ctx, key: ImageSetting): Promise<void> {
  requirePermission(ctx.caller, 'admin.settings');
  await command(ctx, async (work) => {
    const settings = await lockSettings(work.sql);
    await exchangeImages(work.sql, settings.values[key], null);
    await writeSetting(work, ctx, settings, key, null, true);
  });
}

/** Makes the file of one image expire and that of another permanent. @returns whether the other's content exists. */
export async function exchangeImages(
  sql: Knex.Transaction,
  before: StoredImage | null,
  after: StoredImage | null,
): Promise<boolean> {
  if (before?.file_id === after?.file_id) return true;
  const kept = after ? await sql('files').where({ id: after.file_id }).update({ expires_at: null }) : 1;
  if (kept > 0 && before) await expireFiles(sql, [before.file_id]);
  return kept > 0;
}

/** The type of an image, from its bytes. @throws EstateError `validation_failed` if it is not safe to display. */
export async function identifyImage(content: Buffer): Promise<ImageType> {
  const found = await fileTypeFromBuffer(content);
  if (found && found.mime !== 'image/svg+xml' && Object.hasOwn(imageTypes, found.mime)) {
    return found.mime as ImageType;
  }
  // SVG is text, which the library does not detect reliably.
  if (found && !/xml$/.test(found.mime)) throw refused(`it is ${found.mime}`);
  if (content.length === 0 || !isUtf8(content)) throw refused('it is none of them');
  try {
    await checkSvgInThread(content.toString('utf8'));
  } catch (error) {
    if (error instanceof EstateError) throw error;
    throw refused((error as Error).message.replace(/\s+/g, ' ').slice(0, 200));
  }
  return 'image/svg+xml';
}

const refused = (why: string): EstateError =>
  invalidField('file', 'unsupported_image', `must be a PNG, JPEG, SVG, ICO or WebP picture: ${why}`);
