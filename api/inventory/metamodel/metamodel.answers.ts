import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import {
  changeMetamodel,
  type MetamodelChange,
} from '../../../domain/inventory/metamodel/changes/changes.run.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { sendJson, sendResource } from '../../json.ts';
import { negotiateLanguage } from '../../language.ts';
import type { Answer } from '../../operation.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';

export const tag = 'Metamodel';
export const administering = { permission: 'admin.metamodel' } as const;
export const localised = { headers: ['Accept-Language'] as ['Accept-Language'] };

/** A response with labels in the caller's language. */
export function localisedAnswer(description: string, schema: TSchema, more: Partial<Answer> = {}): Answer {
  return { description, schema, ...more, headers: ['Content-Language', 'Vary', ...(more.headers ?? [])] };
}

/** The response if a job executes the change. */
export const asJob: Record<202, Answer> = {
  202: {
    description: 'More than 2,000 cards and relations have to be written: a job writes them',
    schema: StartedJobSchema,
  },
};

/** Changes the metamodel; sends the changed object in the caller's language, or the job that changes it. */
export async function sendChange(
  { ctx, request, reply }: { ctx: Ctx; request: FastifyRequest; reply: FastifyReply },
  change: MetamodelChange,
  options: { created?: string; resource?: boolean; dryRun?: boolean; force?: boolean } = {},
): Promise<FastifyReply> {
  const { created, resource = true, ...how } = options;
  const language = negotiateLanguage(request, reply, ctx.metamodel.languages);
  const { job, text } = await changeMetamodel(ctx, change, { language, ...how });
  if (job) return reply.code(202).header('location', job.links.self).send(job);
  if (created) reply.code(201).header('location', created);
  return resource ? sendResource(reply, text) : sendJson(reply, text);
}
