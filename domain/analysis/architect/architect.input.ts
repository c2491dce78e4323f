import Type, { type TSchema } from 'typebox';
import { itemsUpTo, Nullable, OpenObject, optional, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import { cardMembers, relationMembers } from './architect.types.ts';

const open = { additionalProperties: true } as const;
const Given = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));
const ShortText = Type.String({ maxLength: 500 });

/** The maximum number of proposed cards and relations of an architecture. */
const MOST = { cards: 300, relations: 1000 };

const AnswersSchema = Type.Union(
  [
    OpenObject,
    Type.Array(Type.Object({ id: Type.Optional(ShortText), answer: Type.Optional(Type.Unknown()) }, open), {
      maxItems: 200,
    }),
  ],
  { description: 'Answers by id of the question, or a list of `{id, answer}`' },
);

/** The values that a client sends from phase to phase, and stores in a session. */
export const sessionMembers = {
  phase: Given(Type.Integer({ minimum: 1, maximum: 3 })),
  requirement: Given(Type.String({ maxLength: 20_000, description: 'What is to be reached, in words' })),
  phase1QA: Given(AnswersSchema),
  allQA: Given(AnswersSchema),
  selectedOption: Given(
    Type.Object({ id: Type.Optional(ShortText) }, { ...open, description: 'One of the options' }),
  ),
  selectedRecommendations: Given(
    Type.Array(
      Type.Object({ id: Type.Optional(ShortText) }, open),
      itemsUpTo(500, 'Of the gaps, those that the target architecture is to close; none: all'),
    ),
  ),
  selectedProducts: Given(
    Type.Array(
      Type.Object({ name: Type.Optional(ShortText) }, open),
      itemsUpTo(100, 'Products to be bought: new applications get their names, in order'),
    ),
  ),
  objectiveIds: Given(Type.Array(Uuid, { maxItems: 50 })),
  selectedCapabilities: Given(
    Type.Array(
      Type.Object({ id: Type.Optional(Nullable(ShortText)), name: Type.Optional(ShortText) }, open),
      itemsUpTo(200, 'Capabilities of the inventory by `id`, and new ones by `name` alone'),
    ),
  ),
};

/** A value of an answer. */
type Answer = string | number | boolean | null | (string | number)[];
type Answers = Record<string, Answer> | { id?: string; answer?: Answer }[] | null;

/** The parameters of a phase. */
export type SessionInput = Omit<StaticOf<typeof sessionMembers>, 'phase1QA' | 'allQA'> & {
  phase1QA?: Answers;
  allQA?: Answers;
};

/** A stored target architecture: a client may add members, and omit optional ones. */
const StoredArchitecture = Type.Object(
  {
    ...optional({
      cards: Type.Array(
        Type.Object(
          {
            ...Type.Partial(Type.Object(cardMembers)).properties,
            ...Type.Pick(Type.Object(cardMembers), ['id', 'change', 'type', 'name']).properties,
          },
          open,
        ),
        { maxItems: MOST.cards },
      ),
      relations: Type.Array(
        Type.Object(
          {
            ...Type.Partial(Type.Object(relationMembers)).properties,
            ...Type.Pick(Type.Object(relationMembers), ['type', 'source_id', 'target_id']).properties,
          },
          open,
        ),
        { maxItems: MOST.relations },
      ),
    }),
  },
  { ...open, description: 'The target architecture as `phase3` proposed it' },
);

/** A stored session: members that the service reads have a schema, clients can store additional ones. */
export const SessionData = Type.Object(
  { ...sessionMembers, architecture: Given(StoredArchitecture) },
  { ...open, description: 'The session; other members are stored as they are' },
);
