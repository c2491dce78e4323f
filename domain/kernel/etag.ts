import { createHash } from 'node:crypto';
import { EstateError } from '../../platform/errors.ts';
import type { Ctx } from './context.ts';

/** The strong ETag of a representation, given as a whole or in chunks: a hash of its text. */
export function etagOf(text: string | Buffer[]): string {
  const hash = createHash('sha1');
  for (const part of typeof text === 'string' ? [text] : text) hash.update(part);
  return `"${hash.digest('base64url')}"`;
}

/** The tags of an `If-Match` or `If-None-Match` header; `*` stays as it is. */
export function parseEtags(header: string): string[] {
  return header.match(/\*|(?:W\/)?"[^"]*"/g) ?? [];
}

/** Weak comparison (RFC 9110, 8.8.3.2), so that a cache that weakens tags still gets its 304. */
export function matchesEtag(etag: string, given: string[]): boolean {
  const plain = (tag: string) => tag.replace(/^W\//, '');
  return given.some((tag) => tag === '*' || plain(tag) === plain(etag));
}

/**
 * Compares the request's `If-Match` with the representation read under the command's lock.
 * @throws EstateError `precondition_failed` if the resource has changed.
 */
export function checkIfMatch(ctx: Ctx, representation: string): void {
  if (!ctx.ifMatch) return;
  const etag = etagOf(representation);
  if (ctx.ifMatch.some((tag) => tag === '*' || tag === etag)) return;
  throw new EstateError('precondition_failed', 'The resource has changed since you read it; read it again.', {
    headers: { etag },
  });
}
