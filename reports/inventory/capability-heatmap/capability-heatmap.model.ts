import Type, { type Static } from 'typebox';
import { SectionSchema } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { arrayOf, Nullable, OpenObject, Uuid } from '../../../domain/kernel/shapes.ts';
import { App, CardsByType, Named, TagGroups } from '../../kernel/report.related.ts';
import { pagedReportSchema } from '../../kernel/report.ts';

/** The response of the report. */
export const CapabilityHeatmap = pagedReportSchema('CapabilityHeatmapReport', {
  items: arrayOf({
    ...Named,
    parent_id: Nullable(Uuid),
    app_count: Type.Integer(),
    total_cost: Type.Optional(Type.Number({ description: 'Absent without `costs.view`' })),
    risk_count: Type.Optional(Type.Integer({ description: 'Absent without `risks.view`' })),
    options: Type.Optional(
      Type.Record(Type.String(), Type.Integer(), {
        description: 'With `color_field`: the number of applications with each option',
      }),
    ),
    worst: Type.Optional(
      Nullable(Type.String({ description: 'With `color_field`: the worst option of its applications' })),
    ),
    share: Type.Optional(
      Nullable(
        Type.Number({
          description:
            'With `color_field`: of the applications with a value, the percentage that has an option of the worse half',
        }),
      ),
    ),
    mean: Type.Optional(
      Nullable(
        Type.Number({
          description:
            'With `color_field`: the mean of the positions of the options, of which the worst is 1, weighted by the cost of each application; null if none with a value has a cost. Absent without `costs.view`',
        }),
      ),
    ),
    attributes: OpenObject,
    apps: arrayOf({ ...App, related_by_type: Type.Record(Type.String(), Type.Array(Uuid)) }),
  }),
  metric: Type.String(),
  capability_count: Type.Integer(),
  filterable_types: CardsByType,
  fields_schema: Type.Array(SectionSchema),
  tag_groups: TagGroups,
});

/** A capability with its figures and applications. */
export type CapabilityItem = Static<typeof CapabilityHeatmap>['items'][number];

/** The parameters of the report besides those of all. */
export interface HeatmapParams {
  roll_up: boolean;
  metric: 'app_count' | 'total_cost' | 'risk_count';
  color_field?: string;
  rule?: 'worst' | 'mean' | 'sum' | 'share';
}
