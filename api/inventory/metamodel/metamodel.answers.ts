import type { FastifyReply } from 'fastify';
import type { TSchema } from 'typebox';
import {
  changeMetamodel,
  type MetamodelChange,
} from '../../../domain/inventory/metamodel/changes/changes.run.ts';
import { breaks, listed } from '../../../domain/inventory/metamodel/usage/consumers.ts';
import { type Ctx, etagOf } from '../../../domain/kernel/context.ts';
import { Flag, IntegerIn, object, optional, TextUpTo } from '../../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../../json.ts';
import { StartedJobSchema } from '../../kernel/jobs/jobs.schemas.ts';
import type { OperationResponse } from '../../operation.responses.ts';

export const tag = 'Metamodel';
/** The languages of the workspace's labels. */
export const languages = (ctx: Ctx): ReadonlySet<string> => ctx.metamodel.languages;
export const administering = { tag, permission: 'admin.metamodel' } as const;

export const dry_run = Flag('Return the impact without writing anything');

/** The impact of a change, instead of the change. */
export const impactQuery = object({
  dry_run,
  force: Flag('Remove values that cannot be converted to the new type of their field, and break consumers'),
});

export const usageQuery = object({
  ...optional({
    field_key: TextUpTo(100, 'Only what uses this field, or one of its options'),
    option_key: TextUpTo(100, 'Only what uses this option of the field'),
  }),
  page: IntegerIn(1, 1_000_000, 'The page', 1),
  page_size: IntegerIn(1, 200, 'Consumers on a page', 50),
});
export const usageDescription =
  'Saved views, feeds, reports, dashboards, extraction schedules, webhooks, mappings, portals, formulas, surveys, tag groups, and who has read it over OData in the last 90 days. Those that you may not read are counted; administrators see all.';

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
  const { job, text, broken } = await changeMetamodel(ctx, change, { language, ...how });
  if (job) return reply.code(202).header('location', job.links.self).send(job);
  if (created) reply.code(201).header('location', created);
  if (how.dryRun || !breaks(broken)) return resource ? sendResource(reply, text) : sendJson(reply, text);
  // the ETag is that of the object, as a read returns it
  if (resource) reply.header('etag', etagOf(text));
  return sendJson(reply, `${text.slice(0, -1)},${JSON.stringify(listed(broken)).slice(1)}`);
}
