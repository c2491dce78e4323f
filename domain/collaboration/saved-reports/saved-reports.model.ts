import Type from 'typebox';
import { visibilities } from '../../kernel/lists/lists.shared.ts';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

/**
 * What can be saved: views of the first nine kinds, reports by their names, all of business processes or of the project
 * portfolio, own queries, and pages that consist of several.
 */
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
  'app-portfolio',
  'capability-heatmap',
  'cost-periods',
  'cost-treemap',
  'kpis',
  'landscape',
  'roadmap',
  'my-workspace',
  'admin-dashboard',
  'stakeholder-directory',
  'bpm',
  'bpm-capability-heatmap',
  'bpm-capability-process-matrix',
  'bpm-dashboard',
  'bpm-element-application-map',
  'bpm-process-application-matrix',
  'bpm-process-dependencies',
  'bpm-process-map',
  'bpm-value-stream-matrix',
  'ppm',
  'ppm-dashboard',
  'ppm-gantt',
  'ppm-group-options',
  'query',
  'dashboard',
] as const;

/** A small picture as a `data:` address. */
export const Thumbnail = Type.String({
  maxLength: 100_000,
  pattern: '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$',
  examples: ['data:image/png;base64,iVBORw0KGgo='],
});

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
      ...Thumbnail,
      description:
        'Null for readers without `costs.view` if its owner saw costs when it was stored, since it may show them',
    }),
  ),
  visibility: Choice(visibilities),
  shared_with: Type.Array(Uuid),
  /** Users of `shared_with`. */
  editors: Internal(Type.Array(Uuid)),
  created_at: Timestamp,
  updated_at: Timestamp,
  thumbnail_with_costs: Internal(Type.Boolean()),
}) {}
export type SavedReportRow = RowOf<typeof SavedReport>;
