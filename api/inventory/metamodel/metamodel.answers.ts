import type { FastifyReply } from 'fastify';
import type { TSchema } from 'typebox';
import {
  changeMetamodel,
  type MetamodelChange,
} from '../../../domain/inventory/metamodel/changes/changes.run.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { Flag, object } from '../../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../../json.ts';
import { StartedJobSchema } from '../../kernel/jobs/jobs.schemas.ts';
import type { OperationResponse } from '../../operation.responses.ts';

export const tag = 'Metamodel';
/** The languages of the workspace's labels. */
export const languages = (ctx: Ctx): ReadonlySet<string> => ctx.metamodel.languages;
export const administering = { tag, permission: 'admin.metamodel' } as const;

/** The impact of a change, instead of the change. */
export const impactQuery = object({
  dry_run: Flag('Return the impact without writing anything'),
  force: Flag('Remove values that cannot be converted to the new type of their field'),
});

/** The response if a job executes the change. */
export const asJob: Record<202, OperationResponse> = {
  202: {
    description: 'More than 2,000 cards and relations have to be written: a job writes them',
    schema: StartedJobSchema,
  },
};

export const createdOrJob = (description: string, schema: TSchema): Record<number, OperationResponse> => ({
  201: { description, schema, headers: ['Location', 'ETag'] },
  ...asJob,
});

/** Changes the metamodel; sends the changed object in the caller's language, or the job that changes it. */
export async function sendChange(
  { ctx, reply, language }: { ctx: Ctx; reply: FastifyReply; language: string },
  change: MetamodelChange,
  options: { created?: string; resource?: boolean; dryRun?: boolean; force?: boolean } = {},
): Promise<FastifyReply> {
  const { created, resource = true, ...how } = options;
  const { job, text } = await changeMetamodel(ctx, change, { language, ...how });
  if (job) return reply.code(202).header('location', job.links.self).send(job);
  if (created) reply.code(201).header('location', created);
  return resource ? sendResource(reply, text) : sendJson(reply, text);
}
