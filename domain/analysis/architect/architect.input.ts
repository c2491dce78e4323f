import Type, { type TSchema } from 'typebox';
import { Nullable, OpenObject, oneOf, Uuid } from '../../kernel/shapes.ts';

const open = { additionalProperties: true } as const;
const Given = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));
const ShortText = Type.String({ maxLength: 500 });
const Reasons = Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 50 });

/** Proposed cards and relations that one architecture has at most. */
const MOST = { cards: 300, relations: 1000 };

const Answers = Type.Union(
  [
    OpenObject,
    Type.Array(Type.Object({ id: Type.Optional(ShortText), answer: Type.Optional(Type.Unknown()) }, open), {
      maxItems: 200,
    }),
  ],
  { description: 'Answers by id of the question, or a list of `{id, answer}`' },
);

/** What a client sends along from phase to phase, and keeps in a session. */
export const sessionMembers = {
  phase: Given(Type.Integer({ minimum: 1, maximum: 3 })),
  requirement: Given(Type.String({ maxLength: 20_000, description: 'What is to be reached, in words' })),
  phase1QA: Given(Answers),
  allQA: Given(Answers),
  selectedOption: Given(
    Type.Object({ id: Type.Optional(ShortText) }, { ...open, description: 'One of the options' }),
  ),
  selectedRecommendations: Given(
    Type.Array(Type.Object({ id: Type.Optional(ShortText) }, open), {
      maxItems: 500,
      description: 'Of the gaps, those that the target architecture is to close; none: all',
    }),
  ),
  selectedProducts: Given(
    Type.Array(Type.Object({ name: Type.Optional(ShortText) }, open), {
      maxItems: 100,
      description: 'Products to be bought: new applications get their names, in order',
    }),
  ),
  objectiveIds: Given(Type.Array(Uuid, { maxItems: 50 })),
  selectedCapabilities: Given(
    Type.Array(
      Type.Object({ id: Type.Optional(Nullable(ShortText)), name: Type.Optional(ShortText) }, open),
      {
        maxItems: 200,
        description: 'Capabilities of the inventory by `id`, and new ones by `name` alone',
      },
    ),
  ),
};

/** The members of a proposed card. */
export const cardMembers = {
  id: Type.String({
    maxLength: 100,
    description: 'Of a stored card its id, of a new one a name such as `new-1`',
  }),
  change: oneOf('new', 'changed', 'retired'),
  type: Type.String({ maxLength: 100 }),
  subtype: Nullable(Type.String({ maxLength: 100 })),
  name: Type.String({ maxLength: 500 }),
  description: Nullable(Type.String({ maxLength: 10_000 })),
  attributes: OpenObject,
  reasons: Reasons,
};
/** The members of a proposed relation. */
export const relationMembers = {
  type: Type.String({ maxLength: 100 }),
  source_id: Type.String({ maxLength: 100 }),
  target_id: Type.String({ maxLength: 100 }),
  source_name: Type.String({ maxLength: 500 }),
  target_name: Type.String({ maxLength: 500 }),
  label: Type.String({ maxLength: 500 }),
  reasons: Reasons,
};

/** What is kept of a target architecture: a client may add to it, and leave out what is not needed. */
const KeptArchitecture = Type.Object(
  {
    cards: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...Type.Partial(Type.Object(cardMembers)).properties,
            id: cardMembers.id,
            change: cardMembers.change,
            type: cardMembers.type,
            name: cardMembers.name,
          },
          open,
        ),
        { maxItems: MOST.cards },
      ),
    ),
    relations: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...Type.Partial(Type.Object(relationMembers)).properties,
            type: relationMembers.type,
            source_id: relationMembers.source_id,
            target_id: relationMembers.target_id,
          },
          open,
        ),
        { maxItems: MOST.relations },
      ),
    ),
  },
  { ...open, description: 'The target architecture as `phase3` proposed it' },
);

/** A session as it is kept: what the service reads has a shape, the rest is the client's. */
export const SessionData = Type.Object(
  { ...sessionMembers, architecture: Given(KeptArchitecture) },
  { ...open, description: 'The session; members besides these are kept as they are' },
);
