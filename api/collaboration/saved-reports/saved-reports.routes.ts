import Type from 'typebox';
import {
  createSavedReport,
  deleteSavedReport,
  patchSavedReport,
  readSavedReport,
  savedReportInput,
  savedReportList,
} from '../../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import { SavedReport } from '../../../domain/collaboration/saved-reports/saved-reports.model.ts';
import { component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const columns = SavedReport.shown.columns;

const SavedReportCreateBody = object({
  ...savedReportInput,
  name: columns.name,
  report_type: columns.report_type,
  config: columns.config,
});
const SavedReportPatchBody = object(savedReportInput);

const SavedReportSchema = component('SavedReport', {
  ...columns,
  owner_name: Nullable(Type.String()),
  shared_with_users: Type.Array(
    object({ id: Uuid, display_name: Nullable(Type.String()), can_edit: Type.Boolean() }),
  ),
  is_owner: Type.Boolean(),
  can_edit: Type.Boolean(),
});

const url = '/api/v1/saved-reports';
const answer = { description: 'The saved report', schema: SavedReportSchema };

/** Saved reports, which users may share. */
export function registerSavedReportRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Saved reports', permission: 'login' });

  routes.list('listSavedReports', url, savedReportList, {
    summary: 'List your saved reports, those shared with you, and public ones',
    scope: 'saved_reports.create',
    responses: page('Saved reports', SavedReportSchema),
  });

  routes.post('createSavedReport', url, {
    summary: 'Save the parameters and the presentation of a report',
    permission: 'saved_reports.create',
    body: SavedReportCreateBody,
    responses: { 201: { ...answer, headers: ['ETag'] } },
    handler: ({ ctx, body }) => createSavedReport(ctx, body),
  });

  routes.get('readSavedReport', '/api/v1/saved-reports/:report_id', {
    summary: 'Read a saved report',
    scope: 'saved_reports.create',
    headers: ['If-None-Match'],
    responses: { 200: { ...answer, headers: ['ETag'] } },
    handler: ({ ctx, params }) => readSavedReport(ctx, params.report_id),
  });

  routes.patch('patchSavedReport', '/api/v1/saved-reports/:report_id', {
    summary: 'Change a saved report',
    description: 'Users with whom it is shared for editing may change all but its sharing and its picture.',
    scope: 'saved_reports.create',
    permissionNote: 'to be the owner, or a user with whom it is shared for editing',
    body: SavedReportPatchBody,
    responses: { 200: answer },
    handler: ({ ctx, params, body }) => patchSavedReport(ctx, params.report_id, body),
  });

  routes.delete('deleteSavedReport', '/api/v1/saved-reports/:report_id', {
    summary: 'Delete a saved report of your own',
    scope: 'saved_reports.create',
    permissionNote: 'to be the owner',
    ifMatch: true,
    handler: ({ ctx, params }) => deleteSavedReport(ctx, params.report_id),
  });
}
