import { invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { answersOf, hasChosen } from './architect.answers.ts';
import { readFacts } from './architect.facts.ts';
import { findGaps, isCritical } from './architect.gaps.ts';
import type { SessionInput } from './architect.input.ts';
import { evaluateOptions, selectOption } from './architect.options.ts';
import { type ProposalInput, proposeArchitecture } from './architect.propose.ts';
import { applicationQuestions, businessQuestions } from './architect.questions.ts';
import {
  type Architecture,
  type Dependency,
  type Gap,
  type Option,
  type OptionId,
  optionIds,
  type Question,
  type ScopeCapability,
} from './architect.types.ts';

/** The maximum number of gaps in a response; the most severe come first. */
const MOST_GAPS = 1000;

/** The data computed for a session: equal facts and answers result in an equal brief. */
async function briefOf(ctx: Ctx, input: SessionInput): Promise<ProposalInput> {
  requirePermission(ctx.caller, 'ai_analysis.manage');
  const chosen = input.selectedOption?.id;
  if (chosen !== undefined && !optionIds.includes(chosen as OptionId)) {
    throw invalidField('selectedOption.id', 'unknown_option', `is none of ${optionIds.join(', ')}`);
  }
  const facts = await readFacts(ctx, input);
  const { metamodel } = ctx;
  return {
    metamodel,
    facts,
    gaps: findGaps(metamodel, facts),
    answers: answersOf(input),
    products: (input.selectedProducts ?? []).flatMap(({ name }) => name?.trim() || []),
  };
}

/**
 * The brief with only the gaps to be closed: the chosen ones, those of the capabilities with the highest priority, and
 * none that the answers exclude.
 */
function narrowed(brief: ProposalInput, { selectedRecommendations }: SessionInput): ProposalInput {
  const { facts, answers } = brief;
  const chosen = new Set((selectedRecommendations ?? []).flatMap(({ id }) => id ?? []));
  const focus = below(facts.capabilities, answers.get('focus') ?? []);
  const supporting = new Set(
    facts.capabilities.flatMap(({ id, application_ids }) => (focus.has(id) ? application_ids : [])),
  );
  const left = hasChosen(answers, 'uncovered', 'manual') || hasChosen(answers, 'uncovered', 'later');
  const gaps = brief.gaps.filter(
    ({ id, kind, card }) =>
      (chosen.size === 0 || chosen.has(id)) &&
      (focus.size === 0 || focus.has(card.id) || supporting.has(card.id)) &&
      !(left && kind === 'capability_without_application'),
  );
  return { ...brief, gaps };
}

/** The capabilities with these ids, and all their descendants. */
function below(capabilities: ScopeCapability[], ids: string[]): Set<string> {
  const found = new Set<string>();
  // Parents come first.
  for (const { id, parent_id } of capabilities) {
    if (ids.includes(id) || found.has(parent_id ?? '')) found.add(id);
  }
  return found;
}

const optionOf = ({ selectedOption }: SessionInput) => selectedOption?.id as OptionId | undefined;

/**
 * Questions about the business, depending on the inventory.
 * @throws EstateError as every phase: `forbidden`, `validation_failed`.
 */
export async function askBusinessQuestions(
  ctx: Ctx,
  input: SessionInput,
): Promise<{ questions: Question[] }> {
  return { questions: businessQuestions(await briefOf(ctx, input)) };
}

/** Questions about the applications, which follow those about the business. */
export async function askApplicationQuestions(
  ctx: Ctx,
  input: SessionInput,
): Promise<{ questions: Question[] }> {
  return { questions: applicationQuestions(await briefOf(ctx, input)) };
}

/** The options for a target architecture with their effects. */
export async function readOptions(ctx: Ctx, input: SessionInput): Promise<{ options: Option[] }> {
  return { options: evaluateOptions(narrowed(await briefOf(ctx, input), input)) };
}

/** The gaps of the current architecture. */
export async function readGaps(ctx: Ctx, input: SessionInput): Promise<{ gaps: Gap[] }> {
  return { gaps: (await briefOf(ctx, input)).gaps.slice(0, MOST_GAPS) };
}

/** The dependencies of the cards that the chosen option changes. */
export async function readDependencies(
  ctx: Ctx,
  input: SessionInput,
): Promise<{ dependencies: Dependency[] }> {
  const brief = narrowed(await briefOf(ctx, input), input);
  return {
    dependencies: findDependencies(brief, proposeArchitecture(brief, selectOption(brief, optionOf(input)))),
  };
}

/** The target architecture of the chosen option. */
interface TargetArchitecture extends Architecture {
  option: OptionId;
  /** The capabilities that it supports. */
  capabilities: { id: string; name: string; is_new: boolean }[];
}

/** A target architecture and the gaps that it closes. */
export interface ArchitecturePlan {
  architecture: TargetArchitecture;
  gaps: Gap[];
}

/** The cards and relations of the chosen option, else of the recommended one, each with its reasons. */
export async function planArchitecture(ctx: Ctx, input: SessionInput): Promise<ArchitecturePlan> {
  const brief = narrowed(await briefOf(ctx, input), input);
  const option = selectOption(brief, optionOf(input));
  const proposed = proposeArchitecture(brief, option);
  const capabilities = brief.facts.capabilities.map(({ id, name, is_new }) => ({ id, name, is_new }));
  return { architecture: { option, capabilities, ...proposed }, gaps: brief.gaps };
}

/** The maximum number of dependencies in a response; those of retired applications come first. */
const MOST = 1000;

/** The action for a card that depends on a retired application, by its type. */
const moves = new Map([
  ['Organization', 'has to be moved to what takes its place'],
  ['Interface', 'has to be served by what takes its place, or given up'],
  ['DataObject', 'has to be migrated'],
  ['ITComponent', 'may become free'],
  ['BusinessProcess', 'has to be supported by what takes its place'],
  ['Application', 'has to be joined to what takes its place'],
  ['Provider', 'has to be informed, and contracts ended'],
]);

/** The dependencies of the stored applications that an architecture changes. */
function findDependencies({ metamodel, facts }: ProposalInput, { cards }: Architecture): Dependency[] {
  const byId = new Map(facts.applications.map((application) => [application.id, application]));
  const touched = new Map(cards.map(({ id, change }) => [id, change]));
  const order = (change: string) => (change === 'retired' ? 0 : 1);
  return [...cards]
    .sort((a, b) => order(a.change) - order(b.change))
    .flatMap(({ id, change }): Dependency[] => {
      const application = byId.get(id);
      if (!application || change === 'new') return [];
      const card = { id, name: application.name, type: application.type };
      const critical = isCritical(metamodel, application);
      return application.peers.map((peer) => {
        const type = metamodel.relationTypes.get(peer.relation_type)!;
        const outgoing = peer.direction === 'outgoing';
        const both = touched.get(peer.id) === 'retired';
        return {
          card,
          change,
          peer: { id: peer.id, name: peer.name, type: peer.type },
          relation_type: peer.relation_type,
          label: outgoing ? type.label : (type.reverse_label ?? type.label),
          direction: peer.direction,
          severity: change === 'changed' || both ? 'low' : critical ? 'high' : 'medium',
          reason: both
            ? `${peer.name} is retired as well.`
            : change === 'retired'
              ? `${peer.name} ${moves.get(peer.type) ?? 'has to be looked at'}, since ${application.name} is retired.`
              : `${peer.name} may notice that ${application.name} changes.`,
        };
      });
    })
    .slice(0, MOST);
}
