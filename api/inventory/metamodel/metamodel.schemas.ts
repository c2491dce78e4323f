import Type, { type TProperties } from 'typebox';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../../domain/kernel/metamodel/metamodel.model.ts';
import { FieldTypeName } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import { Choice, Count, itemComponent, Nullable, OpenObject, object } from '../../../domain/kernel/shapes.ts';

/** All members are present unless the request selects some with `fields`. */
const shown = <P extends TProperties>($id: string, members: P) => itemComponent($id, members);

const { created_at: _created, updated_at: _updated, ...cardType } = CardTypeDefinition.columns;
export const CardTypeSchema = shown('CardType', {
  ...cardType,
  stakeholder_roles: Type.Array(
    object({
      key: Type.String(),
      label: Type.String(),
      color: Type.String(),
      translations: OpenObject,
    }),
  ),
});

const {
  created_at: _relationCreated,
  updated_at: _relationUpdated,
  ...relationType
} = RelationTypeDefinition.columns;
export const RelationTypeSchema = shown('RelationType', relationType);

export const StakeholderRoleSchema = shown('StakeholderRole', {
  ...StakeholderRoleDefinition.columns,
  stakeholder_count: Type.Integer({ description: 'Only in the response for a single role' }),
});

export const Description = Nullable(Type.String({ maxLength: 10_000 }));
export const SortOrder = Type.Integer({ minimum: 0, maximum: 1_000_000 });

const Affected = Count;

/** The response of a dry run. */
export const ImpactSchema = Type.Object(
  {
    dry_run: Type.Literal(true),
    cards: Type.Integer({ minimum: 0, description: 'Cards whose values or data quality are computed again' }),
    relations: Type.Integer({ minimum: 0, description: 'Changed' }),
    removed_fields: Type.Array(object({ field_key: Type.String(), affected: Affected })),
    removed_options: Type.Array(
      object({ field_key: Type.String(), option_key: Type.String(), affected: Affected }),
    ),
    removed_subtypes: Type.Array(object({ subtype_key: Type.String(), affected: Affected })),
    changed_fields: Type.Array(
      object({
        field_key: Type.String(),
        from: FieldTypeName,
        to: FieldTypeName,
        affected: Affected,
        converted: Affected,
        unconvertible: Affected,
        examples: Type.Array(object({ id: Type.String(), value: Type.Optional(Type.Unknown()) })),
      }),
    ),
    required_fields: Type.Array(object({ field_key: Type.String(), missing: Affected })),
    mandatory_sides: Type.Array(
      object({
        side: Choice(['source', 'target']),
        missing: Affected,
      }),
    ),
    needs_force: Type.Boolean({
      description: 'Values cannot be converted: refused unless `force` removes them',
    }),
    as_job: Type.Boolean({ description: 'Whether a job executes the change; the response names it' }),
  },
  { $id: 'MetamodelImpact', additionalProperties: false, description: 'The impact of a change' },
);
