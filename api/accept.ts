import { EstateError } from '../platform/errors.ts';

interface Range {
  type: string;
  subtype: string;
  quality: number;
}

function readRange(text: string): Range {
  const [media = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const [type = '', subtype = ''] = media.split('/');
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  return { type, subtype, quality: Number.isNaN(quality) ? 0 : quality };
}

/** How specific a matching range is: 0 no match, 3 exact. */
function precision(range: Range, mediaType: string): number {
  const [type, subtype] = mediaType.split('/');
  if (range.type === '*' && range.subtype === '*') return 1;
  if (range.type !== type) return 0;
  return range.subtype === '*' ? 2 : range.subtype === subtype ? 3 : 0;
}

/**
 * The preferred media type of an `Accept` header (RFC 9110, 12.5.1); among equals the first supported one.
 * @throws EstateError `not_acceptable` naming the supported ones.
 */
export function acceptedMedia<T extends string>(header: string | undefined, offered: readonly T[]): T {
  if (header === undefined || header === '*/*') return offered[0]!;
  const ranges = header.split(',').map(readRange);
  let best: { media: T; quality: number } | undefined;
  for (const media of offered) {
    // the most specific range determines the quality of a media type
    const [range] = ranges
      .filter((candidate) => precision(candidate, media) > 0)
      .sort((a, b) => precision(b, media) - precision(a, media));
    const quality = range?.quality ?? 0;
    if (quality > (best?.quality ?? 0)) best = { media, quality };
  }
  if (!best) {
    throw new EstateError('not_acceptable', `The response is available as ${offered.join(', ')}.`, {
      extra: { offered },
    });
  }
  return best.media;
}
