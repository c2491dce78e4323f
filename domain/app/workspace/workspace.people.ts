import { createHash } from 'node:crypto';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * The id of a person in archives: made of the address, by which people are known everywhere, so that the same person has the same
 * one whichever service writes. A UUID of version 8.
 */
export function archiveId(email: string): string {
  const hex = createHash('sha256').update(`estate-workspace:${email.toLowerCase()}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Puts other ids in the place of those that a map knows, wherever they stand in a text; the others stay. */
export function exchangeIds(
  text: string,
  ids: ReadonlyMap<string, string>,
  met: (from: string) => void = () => undefined,
): string {
  if (ids.size === 0) return text;
  return text.replace(UUID, (id) => {
    const other = ids.get(id);
    if (other === undefined) return id;
    met(id);
    return other;
  });
}
