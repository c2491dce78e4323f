import Type, { type TSchema } from 'typebox';
import { sessionMembers } from '../../domain/analysis/architect/architect.input.ts';
import {
  architectureMembers,
  DependencySchema,
  GapSchema,
  OptionSchema,
  optionIds,
  QuestionSchema,
} from '../../domain/analysis/architect/architect.types.ts';
import { Choice, closed, component, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { GraphAnswer } from '../../reports/analysis/dependencies/dependencies.report.ts';

const Text = Type.String();

export const ArchitectBody = object(sessionMembers);
export const architectExample = {
  requirement: 'One way to take orders in all regions',
  objectiveIds: ['0198c0de-1111-7000-8000-000000000001'],
  phase1QA: { drivers: ['cost'], horizon: '24' },
};

export const ObjectiveItemSchema = Type.Partial(
  object({ id: Uuid, name: Text, description: Nullable(Text), subtype: Nullable(Text) }),
  { $id: 'ArchitectObjectiveItem', ...closed },
);
export const CapabilityItemSchema = Type.Partial(
  object({ id: Uuid, name: Text, description: Nullable(Text) }),
  { $id: 'ArchitectCapabilityItem', ...closed },
);

const answer = (name: string, item: TSchema) => object({ [name]: Type.Array(item) });
export const QuestionsAnswer = answer('questions', QuestionSchema);
export const OptionsAnswer = answer('options', OptionSchema);
export const GapsAnswer = answer('gaps', GapSchema);
export const DependenciesAnswer = answer('dependencies', DependencySchema);

export const ArchitectureAnswer = object({
  architecture: object({
    option: Choice(optionIds),
    capabilities: Type.Array(object({ id: Text, name: Text, is_new: Type.Boolean() })),
    ...architectureMembers,
  }),
  wording: Type.Optional(
    object(
      {
        title: Text,
        summary: Text,
        steps: Type.Array(Text),
        model: Text,
        prompt: Type.String({ description: 'Name and version of the instructions' }),
      },
      { description: 'The texts of a language model, with `wording=model`' },
    ),
  ),
});

export const ObjectiveDependenciesSchema = component('ObjectiveDependencies', {
  nodes: GraphAnswer.properties.nodes,
  edges: GraphAnswer.properties.edges,
});
