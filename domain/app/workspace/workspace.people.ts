import { createHash } from 'node:crypto';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * The id of a user in archives: derived from the address, so that the same user has the same id in archives of all
 * services. A UUID of version 8.
 */
export function archiveId(email: string): string {
  const hex = createHash('sha256').update(`estate-workspace:${email.toLowerCase()}`).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Replaces the ids in a text that a map contains; others are unchanged. */
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
