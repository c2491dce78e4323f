import Type from 'typebox';
import { closed, Key, Nullable, oneOf, Uuid } from '../../kernel/shapes.ts';

const Keys = Type.Optional(Type.Array(Key, { maxItems: 200 }));
const Scalar = Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()]);

/** Which cards a view shows. */
export const ViewFilters = Type.Object(
  {
    types: Keys,
    search: Type.Optional(Type.String({ maxLength: 200 })),
    subtypes: Keys,
    approvalStatuses: Type.Optional(
      Type.Array(oneOf('DRAFT', 'APPROVED', 'REJECTED', 'BROKEN'), { maxItems: 4 }),
    ),
    lifecyclePhases: Type.Optional(
      Type.Array(oneOf('plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'), {
        maxItems: 5,
        description: 'The phase of today',
      }),
    ),
    dataQualityMin: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 100 }))),
    showArchived: Type.Optional(Type.Boolean({ description: 'Feeds hold active cards whatever it says' })),
    tagIds: Type.Optional(Type.Array(Uuid, { maxItems: 200, description: 'Cards with one of them' })),
    attributes: Type.Optional(
      Type.Record(Key, Type.Union([Scalar, Type.Array(Scalar, { maxItems: 100 }), Type.Null()]), {
        maxProperties: 50,
        description: 'By key: a value, several of which one must fit, or null for an empty one',
      }),
    ),
    relations: Type.Optional(
      Type.Record(Key, Type.Union([Type.Array(Uuid, { maxItems: 100 }), Type.Literal(true)]), {
        maxProperties: 20,
        description: 'By relation type: ids of related cards of which one must fit, or true for any',
      }),
    ),
  },
  closed,
);

/** In which order. */
export const ViewSort = Type.Object(
  { field: Type.String({ minLength: 1, maxLength: 120 }), direction: Type.Optional(oneOf('asc', 'desc')) },
  closed,
);
const Share = Type.Object({ user_id: Uuid, can_edit: Type.Optional(Type.Boolean()) }, closed);
/** With whom it is shared. */
export const ViewShares = Type.Array(Share, { maxItems: 200 });
/** The columns of its table. */
export const ViewColumns = Type.Array(Type.String({ maxLength: 120 }), { maxItems: 200 });
