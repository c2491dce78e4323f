import Type from 'typebox';
import {
  clearImage,
  type ImageSetting,
  imageTypes,
  MAX_IMAGE,
  setImage,
} from '../../../domain/app/settings/settings.change.ts';
import { matchesEtag, parseEtags } from '../../../domain/kernel/context.ts';
import { openContent } from '../../../domain/kernel/files/files.store.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { StoredImage } from '../../../domain/kernel/settings/settings.definition.ts';
import { Nullable, object } from '../../../domain/kernel/shapes.ts';
import { sha256 } from '../../../platform/crypto.ts';
import { EstateError } from '../../../platform/errors.ts';
import { ok, routesOf } from '../../operation.ts';
import { applyIdempotencyKey } from '../../plugins/idempotency.ts';
import type { App } from '../../types.ts';
import { FORM, FORM_OVERHEAD, receiveBuffer, registerUploads } from '../../uploads.ts';
import { settingsOf } from './settings.routes.ts';

const Content = Type.String({ contentMediaType: 'application/octet-stream' });

const pictures: { key: ImageSetting; name: string }[] = [
  { key: 'logo', name: 'Logo' },
  { key: 'favicon', name: 'Favicon' },
];

/** Logo and favicon: uploaded by administrators, public. */
export async function registerSettingImageRoutes(app: App, services: Services): Promise<void> {
  for (const picture of pictures) registerPicture(app, services, picture.key, picture.name);
  await registerUploads(app, [FORM], (uploads) => {
    for (const { key, name } of pictures) registerUpload(uploads, services, key, name);
  });
}

function infoSchema(key: ImageSetting) {
  return object({ [`has_custom_${key}`]: Type.Boolean(), mime_type: Nullable(Type.String()) });
}

const infoOf = (key: ImageSetting, image: StoredImage | null) => ({
  [`has_custom_${key}`]: image !== null,
  mime_type: image?.media_type ?? null,
});

function registerPicture(app: App, services: Services, key: ImageSetting, name: string): void {
  const routes = routesOf(app, { tag: 'Settings', permission: 'admin.settings' });

  const url = `/api/v1/settings/${key}`;

  routes.get(`read${name}`, url, {
    summary: `Read the custom ${key} of the workspace`,
    permission: 'public',
    headers: ['If-None-Match'],
    responses: {
      200: {
        description: 'The picture',
        schema: Content,
        mediaType: Object.keys(imageTypes),
        headers: ['Content-Disposition', 'ETag'],
      },
    },
    errors: ['not_found'],
    handler: async ({ request, reply }) => {
      const image = (await settingsOf(services, request)).values[key];
      if (!image) throw new EstateError('not_found', `The workspace has no custom ${key}.`);
      reply.headers({ etag: `"${image.sha256}"`, 'cache-control': 'public, no-cache' });
      const known = request.headers['if-none-match'];
      if (known !== undefined && matchesEtag(`"${image.sha256}"`, parseEtags(known))) {
        return reply.code(304).send();
      }
      const content = await openContent(services.blobs, image.file_id);
      const ending = imageTypes[image.media_type as keyof typeof imageTypes];
      return reply
        .headers({
          'content-type': image.media_type,
          'content-length': image.size,
          // can be embedded in pages; if opened directly, SVG is downloaded instead of executed
          'content-disposition': `${ending === 'svg' ? 'attachment' : 'inline'}; filename="${key}.${ending}"`,
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        })
        .send(content);
    },
  });

  routes.get(`read${name}Info`, `${url}/info`, {
    summary: `Read whether the workspace has a custom ${key}`,
    responses: ok('As it is now', infoSchema(key)),
    handler: async ({ request }) => infoOf(key, (await settingsOf(services, request)).values[key]),
  });

  routes.delete(`delete${name}`, url, {
    summary: `Restore the default ${key}`,
    responses: { 204: { description: 'The workspace has no custom one' } },
    handler: ({ ctx }) => clearImage(ctx, key),
  });
}

function registerUpload(app: App, { blobs }: Services, key: ImageSetting, name: string): void {
  const routes = routesOf(app, { tag: 'Settings', permission: 'admin.settings' });

  routes.post(`upload${name}`, `/api/v1/settings/${key}`, {
    summary: `Upload a custom ${key}`,
    description:
      'PNG, JPEG, SVG, ICO or WebP, at most 1 MiB. The type is detected from the content; SVG with scripts is refused.',
    consumes: { 'multipart/form-data': {} },
    bodyLimit: MAX_IMAGE + FORM_OVERHEAD,
    ownIdempotency: true,
    responses: ok('As it is now', infoSchema(key)),
    errors: ['query_too_heavy', 'validation_failed'],
    handler: async ({ ctx, request, reply }) => {
      const content = await receiveBuffer(request, MAX_IMAGE);
      if (await applyIdempotencyKey(request, reply, sha256(content))) return reply;
      return infoOf(key, await setImage(ctx, blobs, key, content));
    },
  });
}
