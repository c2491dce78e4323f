import type { FastifyReply } from 'fastify';
import type { TSchema } from 'typebox';
import type { ChangeOutcome } from '../../../domain/inventory/metamodel/changes/changes.run.ts';
import { sendJson, sendResource } from '../../json.ts';
import type { Answer } from '../../operation.spec.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';

export const tag = 'Metamodel';
export const administering = { permission: 'admin.metamodel' } as const;
export const localised = { headers: ['Accept-Language'] as ['Accept-Language'] };

/** An answer with labels in the reader's language. */
export function localisedAnswer(description: string, schema: TSchema, more: Partial<Answer> = {}): Answer {
  return { description, schema, ...more, headers: ['Content-Language', 'Vary', ...(more.headers ?? [])] };
}

/** The answer when a change writes so much that a job does it. */
export const asJob: Record<202, Answer> = {
  202: {
    description: 'More than 2,000 cards and relations are to be written: the job does it',
    schema: StartedJobSchema,
  },
};

/** Answers with what was changed, or with the job that changes it. */
export function sendOutcome(
  reply: FastifyReply,
  outcome: ChangeOutcome,
  options: { created?: string; resource?: boolean } = {},
): FastifyReply {
  if (outcome.job) {
    return reply.code(202).header('location', outcome.job.links.self).send(outcome.job) as FastifyReply;
  }
  if (options.created) reply.code(201).header('location', options.created);
  return options.resource === false ? sendJson(reply, outcome.text) : sendResource(reply, outcome.text);
}
