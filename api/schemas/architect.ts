import Type from 'typebox';
import {
  cardMembers,
  relationMembers,
  sessionMembers,
} from '../../domain/analysis/architect/architect.input.ts';
import { closed, Nullable, oneOf, Uuid } from '../../domain/kernel/shapes.ts';
import { DependenciesReportSchema } from './reports.graphs.ts';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Severity = oneOf('high', 'medium', 'low');

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
