import Type, { type TSchema } from 'typebox';
import {
  createSavedReport,
  deleteSavedReport,
  patchSavedReport,
  readSavedReport,
} from '../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import {
  listSavedReports,
  savedReportFilters,
  savedReportSorts,
} from '../../domain/collaboration/saved-reports/saved-reports.list.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/saved-reports.ts';
import type { App } from '../types.ts';

const tag = 'Saved reports';
const url = '/api/v1/saved-reports';
const ReportParams = Type.Object({ report_id: Uuid }, closed);
const answer = { description: 'The saved report', schema: Type.Ref('SavedReport#') };

/** Saved reports, which users may share. */
export function registerSavedReportRoutes(app: App): void {
  const shared: TSchema[] = [schemas.SavedReportSchema, schemas.SavedReportItemSchema];
  for (const schema of shared) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url,
    id: 'listSavedReports',
    tag,
    summary: 'List your saved reports, those shared with you, and public ones',
    permission: 'login',
    scope: 'saved_reports.create',
    query: listQuery(savedReportSorts, 'name', savedReportFilters),
    answers: { 200: { description: 'Saved reports', schema: listAnswer(Type.Ref('SavedReportItem#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listSavedReports(ctx, query)),
  });

  operation(app, {
    method: 'POST',
    url,
    id: 'createSavedReport',
    tag,
    summary: 'Save the parameters and the presentation of a report',
    permission: 'saved_reports.create',
    body: schemas.SavedReportCreateBody,
    bodyExample: {
      name: 'Applications by criticality',
      report_type: 'portfolio',
      config: { type: 'Application', color_field: 'businessCriticality' },
    },
    answers: { 201: { ...answer, headers: ['ETag'] } },
    handler: async ({ ctx, body, reply }) =>
      sendResource(reply.code(201), await createSavedReport(ctx, body)),
  });

  operation(app, {
    method: 'GET',
    url: `${url}/:report_id`,
    id: 'readSavedReport',
    tag,
    summary: 'Read a saved report',
    permission: 'login',
    scope: 'saved_reports.create',
    params: ReportParams,
    headers: ['If-None-Match'],
    answers: { 200: { ...answer, headers: ['ETag'] } },
    handler: async ({ ctx, params, reply }) =>
      sendResource(reply, await readSavedReport(ctx, params.report_id)),
  });

  operation(app, {
    method: 'PATCH',
    url: `${url}/:report_id`,
    id: 'patchSavedReport',
    tag,
    summary: 'Change a saved report of your own',
    permission: 'login',
    scope: 'saved_reports.create',
    permissionNote: 'to be the owner',
    params: ReportParams,
    body: schemas.SavedReportPatchBody,
    bodyExample: { visibility: 'public' },
    headers: ['If-Match'],
    answers: { 200: answer },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchSavedReport(ctx, params.report_id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: `${url}/:report_id`,
    id: 'deleteSavedReport',
    tag,
    summary: 'Delete a saved report of your own',
    permission: 'login',
    scope: 'saved_reports.create',
    permissionNote: 'to be the owner',
    params: ReportParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteSavedReport(ctx, params.report_id);
      return reply.code(204).send();
    },
  });
}
