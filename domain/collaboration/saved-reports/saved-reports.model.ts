import Type from 'typebox';
import { visibilities } from '../../kernel/lists/lists.shared.ts';
import { type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

export const savedReportTypes = [
  'portfolio',
  'flexible-portfolio',
  'capability-map',
  'lifecycle',
  'dependencies',
  'cost',
  'matrix',
  'data-quality',
  'eol',
] as const;

/** The parameters and the presentation of a report. */
export class SavedReport extends rowModel('saved_reports', {
  id: Uuid,
  owner_id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Nullable(Type.String({ maxLength: 10_000 })),
  report_type: Choice(savedReportTypes),
  config: OpenObject,
  thumbnail: Nullable(
    Type.String({
      description:
        'Null for readers without `costs.view` if its owner saw costs when it was stored, since it may show them',
    }),
  ),
  visibility: Choice(visibilities),
  shared_with: Type.Array(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
  thumbnail_with_costs: Type.Boolean(),
}) {}
export type SavedReportRow = RowOf<typeof SavedReport>;
