import Type from 'typebox';
import { Lifecycle } from '../../domain/inventory/cards/cards.model.ts';
import { SectionSchema } from '../../domain/kernel/metamodel/metamodel.types.ts';
import { closed, Nullable, OpenObject, Uuid } from '../../domain/kernel/shapes.ts';
import { Position } from './common.ts';

const Named = { id: Uuid, name: Type.String() };
const Member = { ...Named, type: Type.String(), attributes: OpenObject };

export const LandscapeReportSchema = Type.Object(
  {
    groups: Type.Array(
      Type.Object(
        {
          ...Named,
          parent_id: Nullable(Uuid),
          items: Type.Array(Type.Object({ ...Member, lifecycle: Nullable(Lifecycle) }, closed)),
        },
        closed,
      ),
    ),
    ungrouped: Type.Array(Type.Object(Member, closed)),
    position: Position,
  },
  { $id: 'LandscapeReport', ...closed },
);

const CardsByType = Type.Record(
  Type.String(),
  Type.Array(Type.Object({ ...Named, type: Type.String() }, closed)),
);

const TagGroups = Type.Array(
  Type.Object(
    {
      ...Named,
      mode: Type.String(),
      tags: Type.Array(Type.Object({ ...Named, color: Nullable(Type.String()) }, closed)),
    },
    closed,
  ),
);

const App = {
  ...Named,
  subtype: Nullable(Type.String()),
  attributes: OpenObject,
  lifecycle: Nullable(Lifecycle),
  org_ids: Type.Array(Uuid),
  tag_ids: Type.Array(Uuid),
};

export const CapabilityHeatmapReportSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          ...Named,
          parent_id: Nullable(Uuid),
          app_count: Type.Integer(),
          total_cost: Type.Optional(Type.Number({ description: 'Left out without `costs.view`' })),
          risk_count: Type.Optional(Type.Integer({ description: 'Left out without `risks.view`' })),
          attributes: OpenObject,
          apps: Type.Array(
            Type.Object({ ...App, related_by_type: Type.Record(Type.String(), Type.Array(Uuid)) }, closed),
          ),
        },
        closed,
      ),
    ),
    metric: Type.String(),
    filterable_types: CardsByType,
    fields_schema: Type.Array(SectionSchema),
    tag_groups: TagGroups,
    position: Position,
  },
  { $id: 'CapabilityHeatmapReport', ...closed },
);

export const AppPortfolioReportSchema = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          ...App,
          relations: Type.Array(
            Type.Object(
              {
                relation_type: Type.String(),
                related_id: Uuid,
                related_name: Type.String(),
                related_type: Type.String(),
                attributes: OpenObject,
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    fields_schema: Type.Array(SectionSchema),
    relation_types: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          label: Type.String(),
          reverse_label: Nullable(Type.String()),
          source_type_key: Type.String(),
          target_type_key: Type.String(),
          other_type_key: Type.String(),
          translations: OpenObject,
          attributes_schema: Type.Array(OpenObject),
        },
        closed,
      ),
    ),
    groupable_types: CardsByType,
    organizations: Type.Array(Type.Object(Named, closed)),
    tag_groups: TagGroups,
    position: Position,
  },
  { $id: 'AppPortfolioReport', ...closed },
);
