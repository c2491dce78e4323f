import Type from 'typebox';
import { savedReportInput } from '../../domain/collaboration/saved-reports/saved-reports.commands.ts';
import { SavedReport } from '../../domain/collaboration/saved-reports/saved-reports.model.ts';
import { closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

const { thumbnail_with_costs: _withCosts, ...columns } = SavedReport.columns;

export const SavedReportCreateBody = Type.Object(
  { ...savedReportInput, name: columns.name, report_type: columns.report_type, config: columns.config },
  closed,
);
export const SavedReportPatchBody = Type.Object(savedReportInput, closed);

export const SavedReportSchema = Type.Object(
  {
    ...columns,
    owner_name: Nullable(Type.String()),
    shared_with_users: Type.Array(Type.Object({ id: Uuid, display_name: Nullable(Type.String()) }, closed)),
    is_owner: Type.Boolean(),
  },
  { $id: 'SavedReport', ...closed },
);
/** A saved report in a list, cut to the requested members. */
export const SavedReportItemSchema = Type.Partial(SavedReportSchema, { $id: 'SavedReportItem', ...closed });
