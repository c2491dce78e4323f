import Type, { type TProperties } from 'typebox';
import { impact } from '../../../domain/inventory/metamodel/changes/changes.types.ts';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../../domain/kernel/metamodel/metamodel.model.ts';
import { component, itemComponent, OpenObject, object } from '../../../domain/kernel/shapes.ts';

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

export const StakeholderRoleSchema = shown('StakeholderRole', {
  ...StakeholderRoleDefinition.columns,
  stakeholder_count: Type.Integer({ description: 'Only in the response for a single role' }),
});

/** The response of a dry run. */
export const ImpactSchema = component('MetamodelImpact', impact, { description: 'The impact of a change' });
