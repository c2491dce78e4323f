import Type, { type TSchema } from 'typebox';
import { requireAi } from '../../../domain/analysis/ai/ai.provider.ts';
import { type SessionInput, sessionMembers } from '../../../domain/analysis/architect/architect.input.ts';
import * as phases from '../../../domain/analysis/architect/architect.phases.ts';
import { type cardPickers, pickCards } from '../../../domain/analysis/architect/architect.scope.ts';
import {
  architectureMembers,
  DependencySchema,
  GapSchema,
  OptionSchema,
  optionIds,
  QuestionSchema,
} from '../../../domain/analysis/architect/architect.types.ts';
import { createCardListMemory } from '../../../domain/inventory/cards/cards.list.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Choice, closed, component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import {
  rewordArchitecture,
  WordingSchema,
} from '../../../integrations/analysis/models/reword-architecture.ts';
import { readObjectiveDependencies } from '../../../reports/analysis/dependencies/dependencies.objectives.ts';
import { DependenciesResponse } from '../../../reports/analysis/dependencies/dependencies.report.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { CardListSchema } from '../../inventory/cards/cards.schemas.ts';
import { ok, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

const Text = Type.String();

const ArchitectBody = object(sessionMembers);
const architectExample = {
  requirement: 'One way to take orders in all regions',
  objectiveIds: ['0198c0de-1111-7000-8000-000000000001'],
  phase1QA: { drivers: ['cost'], horizon: '24' },
};

const ObjectiveItemSchema = Type.Partial(
  object({ id: Uuid, name: Text, description: Nullable(Text), subtype: Nullable(Text) }),
  { $id: 'ArchitectObjectiveItem', ...closed },
);
const CapabilityItemSchema = Type.Partial(object({ id: Uuid, name: Text, description: Nullable(Text) }), {
  $id: 'ArchitectCapabilityItem',
  ...closed,
});

const answer = (name: string, item: TSchema) => object({ [name]: Type.Array(item) });
const QuestionsAnswer = answer('questions', QuestionSchema);
const OptionsAnswer = answer('options', OptionSchema);
const GapsAnswer = answer('gaps', GapSchema);
const DependenciesAnswer = answer('dependencies', DependencySchema);

const ArchitectureAnswer = object({
  architecture: object({
    option: Choice(optionIds),
    capabilities: Type.Array(object({ id: Text, name: Text, is_new: Type.Boolean() })),
    ...architectureMembers,
  }),
  wording: Type.Optional(WordingSchema),
});

const ObjectiveDependenciesSchema = component('ObjectiveDependencies', {
  nodes: DependenciesResponse.properties.nodes,
  edges: DependenciesResponse.properties.edges,
});

const group = {
  tag: 'Target architecture',
  module: 'ai_analysis',
  permission: 'ai_analysis.manage',
} as const;

interface Phase {
  path: string;
  id: string;
  summary: string;
  description: string;
  schema: TSchema;
  read(ctx: Ctx, input: SessionInput): Promise<object>;
}

const everyPhase =
  'Computed from the inventory: the same cards and answers give the same result. Send the session data so far.';

const all: Phase[] = [
  {
    path: 'phase1',
    id: 'askArchitectFirst',
    summary: 'Ask about the business',
    description: 'Questions derived from the inventory. Send the answers as `phase1QA`.',
    schema: QuestionsAnswer,
    read: phases.askBusinessQuestions,
  },
  {
    path: 'phase2',
    id: 'askArchitectSecond',
    summary: 'Ask about the applications',
    description: 'Further questions. Send the answers as `allQA`, together with those of the first phase.',
    schema: QuestionsAnswer,
    read: phases.askApplicationQuestions,
  },
  {
    path: 'phase3/options',
    id: 'readArchitectOptions',
    summary: 'Compare options for a target architecture',
    description:
      'Retain and improve, consolidate, replace by purchased applications, or rebuild: each with the affected cards, reasons and risks. The option that closes the most severe gaps in relation to its effort is recommended. Costs require `costs.view`.',
    schema: OptionsAnswer,
    read: phases.readOptions,
  },
  {
    path: 'phase3/gaps',
    id: 'readArchitectGaps',
    summary: 'Find gaps of the current architecture',
    description:
      'Capabilities without an application, applications and components that are near their end of life, unsuitable or to be retired, and capabilities that several applications support; most severe first. Send the gaps to close as `selectedRecommendations`.',
    schema: GapsAnswer,
    read: phases.readGaps,
  },
  {
    path: 'phase3/deps',
    id: 'readArchitectDependencies',
    summary: 'Find the dependencies of the cards that an option affects',
    description:
      'For `selectedOption` or the recommended option; at most 1,000, those of retired cards first.',
    schema: DependenciesAnswer,
    read: phases.readDependencies,
  },
];

/** The phases from objectives and capabilities to a target architecture. */
export function registerArchitectRoutes(app: App, services: Services): void {
  const routes = routesOf(app, group);

  registerPicker(app, 'Objective', 'objectives', 'Objectives to choose from', ObjectiveItemSchema);
  registerPicker(
    app,
    'BusinessCapability',
    'capabilities',
    'Capabilities to choose from',
    CapabilityItemSchema,
  );

  routes.get('readObjectiveDependencies', '/api/v1/ai-analysis/architect/objective-dependencies', {
    summary: 'Read the cards related to objectives and their relations as a graph',
    permissionNote: 'relations.view',
    query: object({
      objective_ids: Type.String({
        maxLength: 2000,
        default: '',
        description: 'Ids of up to 50 objectives, comma-separated; none: an empty graph',
      }),
      depth: Type.Integer({
        minimum: 1,
        maximum: 3,
        default: 2,
        description: 'Maximum distance in relations',
      }),
    }),
    errors: ['not_found'],
    responses: ok('The graph', ObjectiveDependenciesSchema),
    handler: ({ ctx, query }) => readObjectiveDependencies(ctx, query.objective_ids, query.depth),
  });

  for (const phase of all) {
    routes.post(phase.id, `/api/v1/ai-analysis/architect/${phase.path}`, {
      summary: phase.summary,
      description: `${phase.description} ${everyPhase}`,
      permissionNote: 'relations.view',
      body: ArchitectBody,
      bodyExample: architectExample,
      responses: ok(phase.summary, phase.schema),
      handler: ({ ctx, body }) => phase.read(ctx, body as SessionInput),
    });
  }

  routes.post('readArchitecture', '/api/v1/ai-analysis/architect/phase3', {
    summary: 'Propose the target architecture',
    description: `The cards to create, change and retire, and the relations to create, each with its reasons, for \`selectedOption\` or the recommended option. Store it as \`architecture\` in the session to commit it. ${everyPhase} With \`wording=model\` a language model writes the texts of the proposal; its content does not change. The model gets the requirement and the card data that the settings allow to be sent.`,
    permissionNote: 'relations.view',
    query: object({
      wording: Choice(['none', 'model'], '`model`: the configured language model writes the texts', 'none'),
    }),
    body: ArchitectBody,
    errors: ['ai_budget_spent', 'ai_not_configured', 'upstream_failed'],
    responses: ok('The target architecture', ArchitectureAnswer),
    handler: async ({ ctx, query, body, request }) => {
      const settings = await settingsOf(services, request);
      const input = body as SessionInput;
      if (query.wording === 'model') requireAi(settings);
      const plan = await phases.planArchitecture(ctx, input);
      if (query.wording === 'none') return { architecture: plan.architecture };
      const wording = await rewordArchitecture(ctx, services, settings, input.requirement ?? null, plan);
      return { architecture: plan.architecture, wording };
    },
  });
}

function registerPicker(
  app: App,
  type: keyof typeof cardPickers,
  path: string,
  summary: string,
  item: TSchema,
): void {
  const routes = routesOf(app, group);

  const memory = createCardListMemory();
  routes.get(
    `listArchitect${path[0]!.toUpperCase()}${path.slice(1)}`,
    `/api/v1/ai-analysis/architect/${path}`,
    {
      summary: `List ${summary.toLowerCase()}`,
      description: '`search` works as in the list of cards, by relevance.',
      query: listQuery(['name', 'created_at', 'updated_at'], 'name, or relevance with `search`', {}),
      errors: ['cursor_expired', 'cursor_mismatch'],
      responses: ok(summary, object({ ...CardListSchema.properties, items: Type.Array(item) })),
      handler: ({ ctx, query, request }) => pickCards(ctx, type, query, { topics: request.topics, memory }),
    },
  );
}
