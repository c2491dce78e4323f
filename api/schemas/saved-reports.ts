import Type from 'typebox';
import { savedReportInput } from '../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import { SavedReport } from '../../domain/collaboration/saved-reports/saved-reports.model.ts';
import { closed, component, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';

const { thumbnail_with_costs: _withCosts, ...columns } = SavedReport.columns;

export const SavedReportCreateBody = object({
  ...savedReportInput,
  name: columns.name,
  report_type: columns.report_type,
  config: columns.config,
});
export const SavedReportPatchBody = object(savedReportInput);

export const SavedReportSchema = component('SavedReport', {
  ...columns,
  owner_name: Nullable(Type.String()),
  shared_with_users: Type.Array(object({ id: Uuid, display_name: Nullable(Type.String()) })),
  is_owner: Type.Boolean(),
});
/** A saved report in a list, with the requested members. */
export const SavedReportItemSchema = Type.Partial(SavedReportSchema, { $id: 'SavedReportItem', ...closed });
