import { EstateError, invalidField } from '../../../platform/errors.ts';
import { checkSvgInThread } from '../../collaboration/files/svg.thread.ts';

/** The largest thumbnail, in characters of its `data:` URL. */
export const MAX_THUMBNAIL = 300_000;

const MAX_HEAD = 100;
const HEAD = /^data:image\/(png|jpeg|webp|svg\+xml)(;[^,]*)?$/i;
const magic: Record<string, (bytes: Buffer) => boolean> = {
  png: (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  jpeg: (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  webp: (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
};

/**
 * Checks a picture as a `data:` URL: its bytes match its type, and an SVG contains no scripts. Thumbnails are only sent
 * within JSON, and a browser that shows such a URL as an image loads no other resources.
 * @throws EstateError `validation_failed`; `unavailable`, `query_too_heavy` for a large SVG.
 */
export async function checkThumbnail(text: string, field = 'data.thumbnail'): Promise<string> {
  const refuse = (reason: string) => invalidField(field, 'bad_thumbnail', reason);
  if (text.length > MAX_THUMBNAIL) throw refuse(`is longer than ${MAX_THUMBNAIL} characters`);
  const head = text.slice(0, MAX_HEAD).split(',', 1)[0]!;
  const content = text.slice(head.length + 1);
  const [, kind, parameters = ''] = HEAD.exec(head) ?? [];
  if (kind === undefined) throw refuse('is no data: URL of a PNG, JPEG, WebP or SVG picture');
  const isBase64 = /;base64$/i.test(parameters);
  if (isBase64 && !/^[A-Za-z0-9+/]+={0,2}$/.test(content)) throw refuse('is not base64');
  const type = kind.toLowerCase();
  if (type !== 'svg+xml') {
    if (isBase64 && magic[type]!(Buffer.from(content, 'base64'))) return text;
    throw refuse(`contains no ${type.toUpperCase()} picture`);
  }
  try {
    await checkSvgInThread(
      isBase64 ? Buffer.from(content, 'base64').toString('utf8') : decodeURIComponent(content),
    );
  } catch (error) {
    if (error instanceof EstateError) throw error;
    throw refuse(`contains no safe SVG picture: ${(error as Error).message.slice(0, 200)}`);
  }
  return text;
}
