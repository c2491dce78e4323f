import Type, { type TProperties } from 'typebox';
import { impact } from '../../../domain/inventory/metamodel/changes/changes.types.ts';
import { brokenConsumers, ConsumerSchema } from '../../../domain/inventory/metamodel/usage/consumers.ts';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../../domain/kernel/metamodel/metamodel.model.ts';
import {
  Count,
  component,
  itemComponent,
  OpenObject,
  object,
  optional,
} from '../../../domain/kernel/shapes.ts';

/** All members are present unless the request selects some with `fields`. */
const shown = <P extends TProperties>($id: string, members: P) => itemComponent($id, members);

export const CardTypeSchema = shown('CardType', {
  ...CardTypeDefinition.shown.columns,
  stakeholder_roles: Type.Array(
    object({
      key: Type.String(),
      label: Type.String(),
      color: Type.String(),
      translations: OpenObject,
    }),
  ),
});

export const RelationTypeSchema = shown('RelationType', RelationTypeDefinition.shown.columns);

/** The consumers that a forced change has broken; absent if there are none. */
export const broken = optional(brokenConsumers);

/** The responses of changes. */
export const ChangedCardTypeSchema = component('ChangedCardType', {
  ...CardTypeSchema.properties,
  ...broken,
});
export const ChangedRelationTypeSchema = component('ChangedRelationType', {
  ...RelationTypeSchema.properties,
  ...broken,
});

export const UsageSchema = component(
  'MetamodelUsage',
  {
    consumers: Type.Array(ConsumerSchema, { description: 'By kind and name' }),
    total: Type.Integer({ ...Count, description: 'Of those that you may read' }),
    hidden: Type.Integer({ ...Count, description: 'The number of further ones, which you may not read' }),
    page: Type.Integer(),
    page_size: Type.Integer(),
  },
  { description: 'The stored objects that use a part of the metamodel' },
);

export const StakeholderRoleSchema = shown('StakeholderRole', {
  ...StakeholderRoleDefinition.columns,
  stakeholder_count: Type.Integer({ description: 'Only in the response for a single role' }),
});

export const ChangedRoleSchema = component('ChangedStakeholderRole', {
  ...StakeholderRoleSchema.properties,
  ...broken,
});

/** The response of a dry run. */
export const ImpactSchema = component('MetamodelImpact', impact, { description: 'The impact of a change' });
