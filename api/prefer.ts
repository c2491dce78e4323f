import type { FastifyRequest } from 'fastify';

/** Whether the client sent `Prefer: respond-async` (RFC 7240, 4.1). */
export function prefersAsync(request: FastifyRequest): boolean {
  const header = request.headers.prefer;
  if (header === undefined) return false;
  return [header]
    .flat()
    .join(',')
    .split(',')
    .some((preference) => preference.split(';')[0]!.trim().toLowerCase() === 'respond-async');
}
