import { counted } from '../../../platform/counted.ts';
import { type Answers, hasChosen } from './architect.answers.ts';
import { isCritical } from './architect.gaps.ts';
import texts from './architect.options.json' with { type: 'json' };
import { type ProposalInput, proposeArchitecture } from './architect.propose.ts';
import {
  type Architecture,
  type Gap,
  type GapKind,
  type Option,
  type OptionId,
  optionIds,
  type ScopeApplication,
  type Severity,
  type Spend,
} from './architect.types.ts';
import { APPLICATION, CAPABILITY, listed, relationTypesBetween } from './architect.words.ts';

/** The name of an option. */
export const optionTitle = (id: OptionId): string => texts[id].title;

const weight: Record<Severity, number> = { high: 3, medium: 2, low: 1 };
/** The effort of a card, relative to the weight of the closed gaps. */
const EFFORT = { new: 1.5, retired: 0.75, changed: 0.5 };
const BUILD_EFFORT = 1.3;
const SOURCING_BONUS = 2;

/** Every option with its effects; if there are gaps that can be closed, one is recommended. */
export function evaluateOptions(brief: ProposalInput): Option[] {
  const weighed = optionIds.map((id) => {
    const architecture = proposeArchitecture(brief, id);
    const closed = closedGaps(brief, architecture);
    const option = optionOf(brief, id, architecture, closed);
    return { option, score: scoreOf(brief, id, architecture, closed) };
  });
  const useful = weighed.filter(({ option }) => option.facts.closed_gaps > 0);
  const best = useful.sort((a, b) => b.score - a.score)[0];
  if (best) best.option.recommended = true;
  return weighed.map(({ option }) => option);
}

/** The chosen option, else the recommended one. */
export function selectOption(brief: ProposalInput, chosen: OptionId | undefined): OptionId {
  return chosen ?? evaluateOptions(brief).find(({ recommended }) => recommended)?.id ?? 'keep';
}

/** Which of the gaps an architecture closes. */
function closedGaps(
  { metamodel, facts, gaps, answers }: ProposalInput,
  { cards, relations }: Architecture,
): Set<Gap> {
  const touched = new Map(cards.map((card) => [card.id, card]));
  const supporting = new Set(relationTypesBetween(metamodel, APPLICATION, CAPABILITY));
  const supported = new Set(
    relations.flatMap(({ type, source_id, target_id }) =>
      supporting.has(type) ? [source_id, target_id] : [],
    ),
  );
  // A new capability is a proposed card, which has another id.
  const made = new Map(
    cards.flatMap(({ change, type, name, id }) =>
      change === 'new' && type === CAPABILITY ? [[name, id] as const] : [],
    ),
  );
  const applications = new Map(facts.capabilities.map(({ id, application_ids }) => [id, application_ids]));
  return new Set(
    gaps.filter(({ kind, card }) => {
      if (kind === 'capability_without_application') {
        return supported.has(card.id) || supported.has(made.get(card.name) ?? '');
      }
      if (kind === 'overlap') {
        const left = (applications.get(card.id) ?? []).filter((id) => touched.get(id)?.change !== 'retired');
        return left.length < 2;
      }
      const change = touched.get(card.id)?.change;
      return change === 'retired' || (change === 'changed' && improvable(kind, answers));
    }),
  );
}

/** Whether a weakness can be resolved while the application remains; that depends on the answers. */
function improvable(kind: GapKind, answers: Answers): boolean {
  if (kind === 'component_end_of_life') return true;
  if (kind === 'low_fit') return !hasChosen(answers, 'improvement', 'no');
  return (
    kind === 'end_of_life' && (hasChosen(answers, 'support', 'paid') || hasChosen(answers, 'support', 'any'))
  );
}

const countOf = ({ cards }: Architecture, change: string) =>
  cards.filter((card) => card.change === change).length;

function scoreOf(
  { answers }: ProposalInput,
  id: OptionId,
  architecture: Architecture,
  closed: Set<Gap>,
): number {
  const gain = [...closed].reduce((sum, { severity }) => sum + weight[severity], 0);
  const effort = (['new', 'retired', 'changed'] as const).reduce(
    (sum, change) => sum + EFFORT[change] * countOf(architecture, change),
    0,
  );
  const wanted = (id === 'buy' || id === 'build') && hasChosen(answers, 'sourcing', id) ? SOURCING_BONUS : 0;
  return gain - effort * (id === 'build' ? BUILD_EFFORT : 1) + wanted;
}

function optionOf(brief: ProposalInput, id: OptionId, architecture: Architecture, closed: Set<Gap>): Option {
  const { facts, gaps } = brief;
  const byId = new Map(facts.applications.map((application) => [application.id, application]));
  const of = (change: string) =>
    architecture.cards.flatMap((card) => (card.change === change ? (byId.get(card.id) ?? []) : []));
  const [retired, changed] = [of('retired'), of('changed')];
  const organizations = new Set(
    retired.flatMap(({ peers }) => peers.flatMap((peer) => (peer.type === 'Organization' ? peer.id : []))),
  );
  const touched = architecture.cards.length;
  return {
    id,
    ...texts[id],
    recommended: false,
    facts: {
      new_cards: countOf(architecture, 'new'),
      changed_cards: countOf(architecture, 'changed'),
      retired_cards: countOf(architecture, 'retired'),
      new_relations: architecture.relations.length,
      closed_gaps: closed.size,
      open_gaps: gaps.length - closed.size,
      affected_organizations: organizations.size,
      retired: spendOf(retired),
      changed: spendOf(changed),
    },
    effort: touched > 20 || id === 'build' ? 'high' : touched > 5 ? 'medium' : 'low',
    reasons: reasonsOf(brief, retired, closed),
    risks: risksOf(brief, id, retired, organizations.size),
  };
}

function spendOf(applications: ScopeApplication[]): Spend {
  const costs = applications.flatMap(({ attributes: { costTotalAnnual: cost } }) =>
    typeof cost === 'number' ? cost : [],
  );
  return {
    applications: applications.length,
    annual_cost: costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : null,
    without_cost: applications.length - costs.length,
  };
}

function reasonsOf({ gaps }: ProposalInput, retired: ScopeApplication[], closed: Set<Gap>): string[] {
  const reasons = [
    gaps.length === 0
      ? 'The inventory shows no gap.'
      : `It closes ${closed.size} of ${counted(gaps.length, 'gap')}.`,
  ];
  const severe = gaps.filter((gap) => gap.severity === 'high');
  if (severe.length > 0) {
    const done = severe.filter((gap) => closed.has(gap)).length;
    reasons.push(`Of ${counted(severe.length, 'severe gap')} it closes ${done}.`);
  }
  if (retired.length > 0) reasons.push(`${listed(retired.map(({ name }) => name))} can be switched off.`);
  return reasons;
}

function risksOf(
  { metamodel, facts, gaps }: ProposalInput,
  id: OptionId,
  retired: ScopeApplication[],
  organizations: number,
): Option['risks'] {
  const names = (cards: { name: string }[]) => listed(cards.map(({ name }) => name));
  const critical = retired.filter((application) => isCritical(metamodel, application));
  const outside = retired.filter(({ other_capabilities }) => other_capabilities > 0);
  const interfaces = new Set(
    retired.flatMap(({ peers }) => peers.flatMap((peer) => (peer.type === 'Interface' ? peer.id : []))),
  );
  const ended = gaps.filter(({ kind, severity }) => kind === 'end_of_life' && severity === 'high');
  const isUnfounded =
    (id === 'buy' || id === 'build') &&
    retired.length > 0 &&
    gaps.every(({ card }) => card.type !== APPLICATION);
  const left = facts.total_applications - facts.applications.length;
  const risks: [applies: boolean, severity: Severity, text: string][] = [
    [critical.length > 0, 'high', `It retires critical applications: ${names(critical)}.`],
    [outside.length > 0, 'medium', `Capabilities outside the session lose ${names(outside)}.`],
    [
      interfaces.size > 0,
      'medium',
      `${counted(interfaces.size, 'interface')} of what is retired have to move.`,
    ],
    [organizations > 0, 'medium', `${counted(organizations, 'organisation')} have to change over.`],
    [
      id === 'keep' && ended.length > 0,
      'high',
      `What ends stays in use: ${names(ended.map(({ card }) => card))}.`,
    ],
    [isUnfounded, 'medium', 'The inventory shows no weakness of the replaced application.'],
    [left > 0, 'low', `${counted(left, 'further application')} of the session were not looked at.`],
  ];
  return risks.flatMap(([applies, severity, text]) => (applies ? [{ severity, text }] : []));
}
