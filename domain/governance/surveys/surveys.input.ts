import Type from 'typebox';
import { closed, Key, OpenObject, oneOf, Uuid } from '../../kernel/shapes.ts';

export const SurveyActionName = oneOf('maintain', 'confirm');
const Ids = (description: string) => Type.Optional(Type.Array(Uuid, { maxItems: 1000, description }));

const AttributeFilter = Type.Object(
  {
    key: Key,
    op: oneOf('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'contains', 'is_empty', 'is_not_empty'),
    value: Type.Optional(
      Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean(), Type.Null()], {
        description: 'Left out for is_empty and is_not_empty',
      }),
    ),
  },
  closed,
);

/** Which cards a survey asks about. */
export const SurveyFilters = Type.Object(
  {
    card_ids: Ids('Only these'),
    tag_ids: Ids('Cards with one of the tags'),
    related_ids: Ids('Cards with a relation to one of these'),
    attribute_filters: Type.Optional(
      Type.Array(AttributeFilter, { maxItems: 20, description: 'All of them must hold' }),
    ),
    filter: Type.Optional(Type.String({ maxLength: 4000, description: 'In the filter language' })),
  },
  { ...closed, description: 'Which active cards of the type are asked about; absent or empty: all' },
);

const FieldInput = Type.Object(
  {
    key: Key,
    action: Type.Optional(SurveyActionName),
    label: Type.Optional(Type.String({ maxLength: 500 })),
    type: Type.Optional(Key),
    section: Type.Optional(Type.String({ maxLength: 500 })),
    options: Type.Optional(Type.Array(OpenObject, { maxItems: 1000 })),
    translations: Type.Optional(OpenObject),
  },
  { ...closed, description: 'What it says besides key and action is taken from the card type' },
);

/** What a survey asks for. */
export const SurveyFields = Type.Array(FieldInput, { maxItems: 200 });
/** Whom a survey asks. */
export const SurveyRoles = Type.Array(Key, {
  maxItems: 100,
  description: 'Keys of stakeholder roles of the type',
});
