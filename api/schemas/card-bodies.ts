import Type, { type TSchemaOptions } from 'typebox';
import { lifecyclePhases } from '../../domain/kernel/metamodel/metamodel.types.ts';
import { component, object, Uuid } from '../../domain/kernel/shapes.ts';
import { CardSchema } from './cards.ts';

/** A text that `null` clears; one schema rather than a union, so that a fault is reported once. */
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
    description:
      'Days as YYYY-MM-DD, none before the phase that precedes it. Merged phase by phase; null clears.',
  }),
);

export const Name = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'On one line; blanks around it are cut',
});

/** What a client may set on a card. */
export const cardValues = {
  subtype: ClearableText({ maxLength: 100 }),
  description: ClearableText({ maxLength: 100_000 }),
  parent_id: ClearableText({
    ...Uuid,
    description: 'An active card of the same type, where the type forms a hierarchy',
  }),
  lifecycle: Lifecycle,
  attributes: Attributes,
  external_id: ClearableText({
    maxLength: 500,
    description: 'Unique among the cards of a type, archived ones too',
  }),
  alias: ClearableText({ maxLength: 500 }),
  strict_attributes: Type.Optional(
    Type.Boolean({ description: 'Attributes are always checked; taken for clients that ask for it' }),
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
  Type.Array(Uuid, { maxItems: 200, description: 'Cards related to this one that go with it' }),
);

/** What archiving and deleting do to other cards. */
export const removal = {
  child_strategy: Type.Optional(
    Type.Unsafe<'cascade' | 'disconnect' | 'reparent' | null>({
      type: ['string', 'null'],
      enum: ['cascade', 'disconnect', 'reparent', null],
      description:
        'Needed when the card has active children: `cascade` takes all below along, `disconnect` leaves the children without a parent, `reparent` gives them the grandparent',
    }),
  ),
  related_card_ids: RelatedIds,
  cascade_all_related: Type.Optional(Type.Boolean({ description: 'Takes every active related card along' })),
};

/** Bodies that may be left out. */
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
      Type.Array(Uuid, { maxItems: 200, description: 'Cards that were archived by the same act' }),
    ),
  }),
  type: ['object', 'null'],
});

const Ids = (description: string) => Type.Array(Uuid, { description });
const childIds = Ids('Cards below that went too, and cards that got another parent');
const relatedIds = Ids('Related cards that went too');

export const CardArchiveAnswer = component('CardArchiveAnswer', {
  primary: CardSchema,
  affected_children_ids: childIds,
  affected_related_card_ids: relatedIds,
});

export const CardDeleteAnswer = component('CardDeleteAnswer', {
  deleted_card_ids: Ids('Every deleted card, the one that was named first'),
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
