import Type from 'typebox';
import { Relation } from '../../domain/inventory/relations/relations.model.ts';
import { component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { listAnswer } from './common.ts';

const CardRef = object({ id: Uuid, type: Type.String(), name: Type.String() });

const { created_by: _createdBy, updated_at: _updatedAt, ...columns } = Relation.columns;
const members = { ...columns, source: CardRef, target: CardRef };

export const RelationSchema = component('Relation', members);

/** A relation in a list, with the requested `fields`. */
const RelationItemSchema = itemComponent('RelationItem', members);

export const RelationListSchema = listAnswer(RelationItemSchema);

const TypeKey = Type.String({ minLength: 1, maxLength: 100 });
const Attributes = Type.Optional(
  Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    maxProperties: 1_000,
    description: 'By attribute key of the relation type. Merged key by key; null clears.',
  }),
);
const Description = Type.Optional(
  Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 10_000 }),
);

export const RelationCreateBody = object({
  type: TypeKey,
  source_id: Uuid,
  target_id: Uuid,
  attributes: Attributes,
  description: Description,
});

export const RelationPatchBody = object({ attributes: Attributes, description: Description });

const optionalText = (maxLength: number) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }));

const Reference = object(
  {
    id: Type.Optional(Type.Unsafe<string | null>({ ...Uuid, type: ['string', 'null'] })),
    type: optionalText(100),
    external_id: optionalText(500),
    parent_path: Type.Optional(
      Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        items: { type: 'string', maxLength: 500 },
        maxItems: 100,
        description:
          'Names of all ancestors, the root first; without it: a card of this name at any place in the hierarchy',
      }),
    ),
    name: optionalText(500),
  },
  { description: 'A card by `id`, by `type` and `external_id`, or by `type`, `name` and `parent_path`' },
);

export const RelationBulkBody = object({
  operations: Type.Array(
    object({
      row_index: Type.Integer({ description: "A number of the caller's choice, returned with the result" }),
      action: Type.Union([Type.Literal('upsert'), Type.Literal('delete')], { default: 'upsert' }),
      type: TypeKey,
      source: Reference,
      target: Reference,
      attributes: Attributes,
      description: Description,
    }),
    { minItems: 1, maxItems: 5000 },
  ),
  dry_run: Type.Boolean({ default: false, description: 'Return the same response without writing' }),
});

const Count = Type.Integer({ minimum: 0 });

export const RelationBulkSchema = component('RelationBulkAnswer', {
  results: Type.Array(
    object({
      row_index: Type.Integer(),
      status: Type.Union(['upserted', 'deleted', 'noop', 'failed'].map((status) => Type.Literal(status))),
      relation_id: Nullable(Uuid),
      error: Nullable(Type.String()),
      code: Nullable(Type.String()),
    }),
  ),
  upserted: Count,
  deleted: Count,
  failed: Count,
  dry_run: Type.Boolean(),
});
