import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StartedJob } from '../domain/kernel/jobs/jobs.enqueue.ts';
import { StartedJobSchema } from './kernel/jobs/jobs.schemas.ts';

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

/** The response of an operation whose client preferred a job. */
export const preferredJob = {
  description: 'The job that was started, as preferred',
  schema: StartedJobSchema,
  headers: ['Preference-Applied' as const],
};

/** Sends a job that was started since the client preferred one. */
export const sendPreferredJob = (reply: FastifyReply, job: StartedJob): FastifyReply =>
  reply
    .code(202)
    .header('location', job.links.self)
    .header('preference-applied', 'respond-async')
    .header('cache-control', 'no-store')
    .send(job);
