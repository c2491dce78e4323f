import {
  createSavedReport,
  deleteSavedReport,
  listSavedReports,
  patchSavedReport,
  readSavedReport,
  savedReportFilters,
  savedReportSorts,
} from '../../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import { page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/saved-reports.ts';
import type { App } from '../../types.ts';

const url = '/api/v1/saved-reports';
const answer = { description: 'The saved report', schema: schemas.SavedReportSchema };

/** Saved reports, which users may share. */
export function registerSavedReportRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Saved reports' });

  routes.get(url, {
    id: 'listSavedReports',
    summary: 'List your saved reports, those shared with you, and public ones',
    permission: 'login',
    scope: 'saved_reports.create',
    query: listQuery(savedReportSorts, 'name', savedReportFilters),
    answers: page('Saved reports', schemas.SavedReportItemSchema),
    handler: ({ ctx, query }) => listSavedReports(ctx, query),
  });

  routes.post(url, {
    id: 'createSavedReport',
    summary: 'Save the parameters and the presentation of a report',
    permission: 'saved_reports.create',
    body: schemas.SavedReportCreateBody,

    answers: { 201: { ...answer, headers: ['ETag'] } },
    handler: ({ ctx, body }) => createSavedReport(ctx, body),
  });

  routes.get('/api/v1/saved-reports/:report_id', {
    id: 'readSavedReport',
    summary: 'Read a saved report',
    permission: 'login',
    scope: 'saved_reports.create',
    headers: ['If-None-Match'],
    answers: { 200: { ...answer, headers: ['ETag'] } },
    handler: ({ ctx, params }) => readSavedReport(ctx, params.report_id),
  });

  routes.patch('/api/v1/saved-reports/:report_id', {
    id: 'patchSavedReport',
    summary: 'Change a saved report of your own',
    permission: 'login',
    scope: 'saved_reports.create',
    permissionNote: 'to be the owner',
    body: schemas.SavedReportPatchBody,

    headers: ['If-Match'],
    answers: { 200: answer },
    handler: ({ ctx, params, body }) => patchSavedReport(ctx, params.report_id, body),
  });

  routes.delete('/api/v1/saved-reports/:report_id', {
    id: 'deleteSavedReport',
    summary: 'Delete a saved report of your own',
    permission: 'login',
    scope: 'saved_reports.create',
    permissionNote: 'to be the owner',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteSavedReport(ctx, params.report_id),
  });
}
