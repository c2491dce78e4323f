import Type, { type TSchema } from 'typebox';
import { closed, Nullable, OpenObject, Uuid } from './common.ts';
import { DependenciesReportSchema } from './reports.graphs.ts';

const open = { additionalProperties: true } as const;
const Given = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));
const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const Severity = oneOf('high', 'medium', 'low');
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

const cardMembers = {
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
const relationMembers = {
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

export const ArchitectBody = Type.Object(sessionMembers, closed);
export const architectExample = {
  requirement: 'One way to take orders in all regions',
  objectiveIds: ['0198c0de-1111-7000-8000-000000000001'],
  phase1QA: { drivers: ['cost'], horizon: '24' },
};

export const ObjectiveItemSchema = Type.Partial(
  Type.Object({ id: Uuid, name: Text, description: Nullable(Text), subtype: Nullable(Text) }, closed),
  { $id: 'ArchitectObjectiveItem', ...closed },
);
export const CapabilityItemSchema = Type.Partial(
  Type.Object({ id: Uuid, name: Text, description: Nullable(Text) }, closed),
  { $id: 'ArchitectCapabilityItem', ...closed },
);

const Named = Type.Object({ id: Text, name: Text, type: Text }, closed);

export const QuestionsAnswer = Type.Object(
  {
    questions: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The key of its answer' }),
          question: Text,
          type: oneOf('text', 'choice', 'multi'),
          options: Type.Optional(Type.Array(Type.Object({ value: Text, label: Text }, closed))),
          reason: Type.String({ description: 'What the inventory says' }),
        },
        closed,
      ),
    ),
  },
  closed,
);

const Spend = Type.Object(
  {
    applications: Count,
    annual_cost: Nullable(Type.Number({ description: 'Null where you see no costs, or none is known' })),
    without_cost: Type.Integer({ minimum: 0, description: 'Applications of which no cost is known' }),
  },
  closed,
);
export const OptionsAnswer = Type.Object(
  {
    options: Type.Array(
      Type.Object(
        {
          id: oneOf('keep', 'consolidate', 'buy', 'build'),
          title: Text,
          description: Text,
          recommended: Type.Boolean(),
          facts: Type.Object(
            {
              new_cards: Count,
              changed_cards: Count,
              retired_cards: Count,
              new_relations: Count,
              closed_gaps: Count,
              open_gaps: Count,
              affected_organizations: Count,
              retired: Spend,
              changed: Spend,
            },
            closed,
          ),
          effort: Severity,
          reasons: Type.Array(Text),
          risks: Type.Array(Type.Object({ severity: Severity, text: Text }, closed)),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const GapsAnswer = Type.Object(
  {
    gaps: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The same for the same shortcoming in every phase' }),
          kind: oneOf(
            'capability_without_application',
            'end_of_life',
            'component_end_of_life',
            'low_fit',
            'planned_exit',
            'overlap',
          ),
          severity: Severity,
          title: Text,
          card: Named,
          related: Type.Array(Named),
          reasons: Type.Array(Text),
          recommendation: Text,
        },
        closed,
      ),
    ),
  },
  closed,
);

export const DependenciesAnswer = Type.Object(
  {
    dependencies: Type.Array(
      Type.Object(
        {
          card: Named,
          change: oneOf('changed', 'retired'),
          peer: Named,
          relation_type: Text,
          label: Text,
          direction: oneOf('outgoing', 'incoming'),
          severity: Severity,
          reason: Text,
        },
        closed,
      ),
    ),
  },
  closed,
);

export const ArchitectureAnswer = Type.Object(
  {
    architecture: Type.Object(
      {
        option: oneOf('keep', 'consolidate', 'buy', 'build'),
        capabilities: Type.Array(Type.Object({ id: Text, name: Text, is_new: Type.Boolean() }, closed)),
        cards: Type.Array(Type.Object(cardMembers, closed)),
        relations: Type.Array(Type.Object(relationMembers, closed)),
        left_out: Type.Integer({ minimum: 0, description: 'Cards and relations that there was no room for' }),
      },
      closed,
    ),
    wording: Type.Optional(
      Type.Object(
        {
          title: Text,
          summary: Text,
          steps: Type.Array(Text),
          model: Text,
          prompt: Type.String({ description: 'Name and version of the instructions' }),
        },
        {
          ...closed,
          description: 'The proposal in the words of a language model, as `wording=model` asks for',
        },
      ),
    ),
  },
  closed,
);

export const ObjectiveDependenciesSchema = Type.Object(
  {
    nodes: DependenciesReportSchema.properties.nodes,
    edges: DependenciesReportSchema.properties.edges,
  },
  { $id: 'ObjectiveDependencies', ...closed },
);
