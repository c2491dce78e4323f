import Type, { type TSchemaOptions } from 'typebox';
import { lifecyclePhases } from '../../domain/kernel/metamodel/metamodel.types.ts';
import { component, object, Uuid } from '../../domain/kernel/shapes.ts';
import { CardSchema } from './cards.ts';

/** A text that `null` clears; one schema instead of a union, so that an error is reported once. */
export const ClearableText = (options: TSchemaOptions & { maxLength?: number; format?: string } = {}) =>
  Type.Optional(Type.Unsafe<string | null>({ ...options, type: ['string', 'null'] }));

const Attributes = Type.Optional(
  Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    maxProperties: 1_000,
    description:
      'By field key of the card type, checked against the field: texts, numbers, booleans, dates as YYYY-MM-DD, option keys. Merged key by key; null clears.',
  }),
);

const Lifecycle = Type.Optional(
  Type.Unsafe<Record<string, string | null> | null>({
    type: ['object', 'null'],
    properties: Object.fromEntries(lifecyclePhases.map((phase) => [phase, { type: ['string', 'null'] }])),
    additionalProperties: false,
    description: 'Dates as YYYY-MM-DD, in the order of the phases. Merged phase by phase; null clears.',
  }),
);

export const Name = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'One line; surrounding blanks are removed',
});

/** The members of a card that clients can set. */
export const cardValues = {
  subtype: ClearableText({ maxLength: 100 }),
  description: ClearableText({ maxLength: 100_000 }),
  parent_id: ClearableText({
    ...Uuid,
    description: 'An active card of the same type, if the type is hierarchical',
  }),
  lifecycle: Lifecycle,
  attributes: Attributes,
  external_id: ClearableText({
    maxLength: 500,
    description: 'Unique among the cards of a type, including archived ones',
  }),
  alias: ClearableText({ maxLength: 500 }),
  strict_attributes: Type.Optional(
    Type.Boolean({ description: 'Accepted and ignored: attributes are always checked' }),
  ),
  status: Type.Optional(Type.Unknown({ description: 'Refused with `use_operation`: archive and restore' })),
  approval_status: Type.Optional(
    Type.Unknown({ description: 'Refused with `use_operation`: POST /cards/{id}/approval-status' }),
  ),
};

export const CardCreateBody = object({
  type: Type.String({ minLength: 1, maxLength: 100 }),
  name: Name,
  ...cardValues,
});

export const CardPatchBody = object({ name: Type.Optional(Name), ...cardValues });

const RelatedIds = Type.Optional(
  Type.Array(Uuid, { maxItems: 200, description: 'Related cards that are removed too' }),
);

/** The effects of archiving and deleting on other cards. */
export const removal = {
  child_strategy: Type.Optional(
    Type.Unsafe<'cascade' | 'disconnect' | 'reparent' | null>({
      type: ['string', 'null'],
      enum: ['cascade', 'disconnect', 'reparent', null],
      description:
        'Required if the card has active children: `cascade` includes all descendants, `disconnect` removes the parent of the children, `reparent` makes the grandparent their parent',
    }),
  ),
  related_card_ids: RelatedIds,
  cascade_all_related: Type.Optional(
    Type.Boolean({ description: 'Whether all active related cards are removed too' }),
  ),
};

/** Optional bodies. */
export const CardArchiveBody = Type.Unsafe<
  | {
      child_strategy?: 'cascade' | 'disconnect' | 'reparent' | null;
      related_card_ids?: string[];
      cascade_all_related?: boolean;
    }
  | null
  | undefined
>({ ...object(removal), type: ['object', 'null'] });

export const CardRestoreBody = Type.Unsafe<{ also_restore_card_ids?: string[] } | null | undefined>({
  ...object({
    also_restore_card_ids: Type.Optional(
      Type.Array(Uuid, { maxItems: 200, description: 'Cards that were archived by the same operation' }),
    ),
  }),
  type: ['object', 'null'],
});

const Ids = (description: string) => Type.Array(Uuid, { description });
const childIds = Ids('Descendants that were removed too, and cards that got another parent');
const relatedIds = Ids('Related cards that were removed too');

export const CardArchiveAnswer = component('CardArchiveAnswer', {
  primary: CardSchema,
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

export const CardDeleteAnswer = component('CardDeleteAnswer', {
  deleted_card_ids: Ids('All deleted cards, the requested one first'),
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

export const CardRestoreAnswer = component('CardRestoreAnswer', {
  primary: CardSchema,
  restored_passenger_ids: Ids('Cards restored with it'),
});

export const approvalQuery = object({
  action: Type.Union([Type.Literal('approve'), Type.Literal('reject'), Type.Literal('reset')]),
});
