import { counted } from '../../../platform/counted.ts';
import type { RowOf } from '../../kernel/resources/rows.ts';
import type { Modernization } from './modernizations.model.ts';
import type { CardFacts, Factor, Level, ModernizationType } from './modernizations.types.ts';

/** A card that should be modernised, in its stored form. */
export type Candidate = Omit<
  RowOf<typeof Modernization>,
  'id' | 'run_id' | 'is_current' | 'target_type' | 'status' | 'analysed_at'
>;

/** The maximum points of each factor; 100 in total. */
export const weights: Readonly<Record<Factor, number>> = {
  lifecycle: 30,
  technical_suitability: 20,
  functional_suitability: 15,
  plans: 10,
  cost: 10,
  dependants: 10,
  criticality: 5,
};

/** Share of the points by option; custom options give none. */
const TECHNICAL: Record<string, number> = { adequate: 1 / 3, unreasonable: 2 / 3, inappropriate: 1 };
const FUNCTIONAL: Record<string, number> = { appropriate: 1 / 3, insufficient: 2 / 3, unreasonable: 1 };
const TIME: Record<string, number> = { tolerate: 0.3, migrate: 1, eliminate: 1 };
const CLASSIFICATION: Record<string, number> = { tolerated: 0.3, phaseOut: 1, declined: 1 };
const CRITICALITY: Record<string, number> = {
  businessOperational: 1 / 3,
  businessCritical: 2 / 3,
  missionCritical: 1,
};
/** From this share on, the assessment alone makes a card a candidate. */
const BAD = 2 / 3;
/** Number of dependants that gives all points of this factor. */
const MANY_DEPENDANTS = 31;
/** Scores from which the priority is high or medium. */
export const priorities = { high: 60, medium: 35 };

/** The percentiles of the costs of the cards of a type, from the lowest (0) to the highest (100). */
export type CostRanks = readonly number[];

/** Shares of the points, 0..1, by factor. */
type Shares = Record<Factor, number>;

/**
 * Scores one card: null if only costs, dependants and criticality count, since these make a card important, not
 * outdated.
 * @param today a day, `YYYY-MM-DD`. @param ranks empty if no card of the type has costs.
 */
export function candidateOf(facts: CardFacts, today: string, ranks: CostRanks): Candidate | null {
  const end = endOf(facts, today);
  const rank = costRank(facts.cost, ranks);
  const shares: Shares = {
    lifecycle: end.share,
    technical_suitability: TECHNICAL[facts.technical ?? ''] ?? 0,
    functional_suitability: FUNCTIONAL[facts.functional ?? ''] ?? 0,
    plans: Math.max(TIME[facts.time ?? ''] ?? 0, CLASSIFICATION[facts.classification ?? ''] ?? 0),
    cost: Math.max(0, 2 * rank - 1),
    dependants: Math.min(1, Math.log2(1 + facts.dependants) / Math.log2(1 + MANY_DEPENDANTS)),
    criticality: CRITICALITY[facts.criticality ?? ''] ?? 0,
  };
  const isOld =
    shares.lifecycle > 0 ||
    shares.technical_suitability >= BAD ||
    shares.functional_suitability >= BAD ||
    shares.plans === 1;
  if (!isOld) return null;
  const points = (factor: Factor) => shares[factor] * weights[factor];
  const factors = Object.keys(weights) as Factor[];
  const sum = factors.reduce((total, factor) => total + points(factor), 0);
  const type = typeOf(facts, shares, end);
  return {
    card_id: facts.id,
    modernization_type: type,
    ...recommendationOf(type, facts, end.reason),
    effort: effortOf(type, facts),
    score: tenths(sum),
    score_without_costs: tenths(((sum - points('cost')) * 100) / (100 - weights.cost)),
    reasons: factors
      .filter((factor) => points(factor) >= 0.05)
      .sort((a, b) => points(b) - points(a))
      .map((factor) => ({
        factor,
        points: tenths(points(factor)),
        reason: saidOf(factor, facts, end.reason, rank),
      })),
    dependants: facts.dependants,
  };
}

interface End {
  share: number;
  reason: string;
  /** The ends of life: of the card itself, of its release cycle, or of its IT components. */
  of: 'card' | 'release' | 'parts' | null;
}

const NOT_ENDING: End = { share: 0, reason: '', of: null };

/**
 * The urgency of the end: 1 if past, 0.8 within a year, 0.5 within two; 0.6 if phased out, 0.7 with components past
 * their end.
 */
function endOf(facts: CardFacts, today: string): End {
  const { phaseOut, endOfLife, cycle, endedParts, endedPartNames } = facts;
  const ends: End[] = [NOT_ENDING];
  const dated = (date: string | null, of: 'card' | 'release', what: string) => {
    if (date === null) return;
    const days = (Date.parse(date) - Date.parse(today)) / 86_400_000;
    if (days <= 0) ends.push({ share: 1, reason: `${what} ended on ${date}`, of });
    else if (days <= 365) ends.push({ share: 0.8, reason: `${what} ends on ${date}`, of });
    else if (days <= 730) ends.push({ share: 0.5, reason: `${what} ends on ${date}`, of });
  };
  if (cycle) {
    const release = `support of ${cycle.label} ${cycle.cycle}`;
    if (cycle.endsOn === null && cycle.isOver) {
      ends.push({ share: 1, reason: `${release} has ended`, of: 'release' });
    }
    dated(cycle.endsOn, 'release', release);
  }
  dated(endOfLife, 'card', 'its life');
  if (endedParts > 0) {
    const more = endedParts > endedPartNames.length ? ` and ${endedParts - endedPartNames.length} more` : '';
    const reason = `it uses what is past its end: ${endedPartNames.join(', ')}${more}`;
    ends.push({ share: 0.7, reason, of: 'parts' });
  }
  if (phaseOut !== null && phaseOut <= today) {
    ends.push({ share: 0.6, reason: `it is being phased out since ${phaseOut}`, of: 'card' });
  }
  return ends.reduce((worst, end) => (end.share > worst.share ? end : worst));
}

/** The share of the cards with costs that cost less, 0..1. */
export function costRank(cost: number, ranks: CostRanks): number {
  if (cost <= 0 || ranks.length < 2) return 0;
  let below = 0;
  while (below < ranks.length && ranks[below]! < cost) below++;
  return Math.min(1, below / (ranks.length - 1));
}

function typeOf({ time, classification, hosting }: CardFacts, shares: Shares, end: End): ModernizationType {
  if (time === 'eliminate') return 'retire';
  if (end.of === 'release' && shares.functional_suitability < BAD) return 'upgrade';
  if (time === 'migrate') return 'migrate';
  if (shares.functional_suitability >= BAD || end.of === 'card') return 'replace';
  if (classification === 'phaseOut' || classification === 'declined') return 'replace';
  if (end.of === 'parts') return 'upgrade';
  return hosting === 'onPremise' ? 'replatform' : 'refactor';
}

/** Few dependants (under 5) low, many (20 and more) high; one level higher for mission-critical cards. */
function effortOf(type: ModernizationType, { dependants, criticality }: CardFacts): Level {
  const levels: Level[] = ['low', 'medium', 'high'];
  const base = dependants < 5 ? 0 : dependants < 20 ? 1 : 2;
  const more = criticality === 'missionCritical' ? 1 : 0;
  const less = type === 'upgrade' ? 1 : 0;
  return levels[Math.min(2, Math.max(0, base + more - less))]!;
}

function saidOf(factor: Factor, facts: CardFacts, end: string, rank: number): string {
  switch (factor) {
    case 'lifecycle':
      return end;
    case 'technical_suitability':
      return `its technical suitability is ${facts.technical}`;
    case 'functional_suitability':
      return `its functional suitability is ${facts.functional}`;
    case 'plans':
      return [
        facts.time && `TIME model: ${facts.time}`,
        facts.classification && `classified as ${facts.classification}`,
      ]
        .filter((part) => part)
        .join(', ');
    case 'cost':
      return `it costs more than ${Math.floor(rank * 100)} % of what has costs`;
    case 'dependants':
      return `it is relied on by ${counted(facts.dependants, 'card')}`;
    case 'criticality':
      return `its business criticality is ${facts.criticality}`;
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

/** The current technology, and the recommendation as a sentence. */
function recommendationOf(
  type: ModernizationType,
  facts: CardFacts,
  end: string,
): { current_tech: string; recommendation: string } {
  const because = end === '' ? assessed(facts) : end;
  const what = { ...facts, name: shown(facts.name) };
  const text = `${todo(type, what)}${because === '' ? '' : `: ${because}`}.`;
  return { current_tech: shown(techOf(facts)), recommendation: shown(text) };
}

function todo(type: ModernizationType, { name, cycle, endedParts, dependants }: CardFacts): string {
  const relying = dependants === 0 ? '' : ` after moving ${counted(dependants, 'card')} off it`;
  switch (type) {
    case 'retire':
      return `Retire ${name}${relying}`;
    case 'migrate':
      return `Migrate ${name} to another solution`;
    case 'replace':
      return `Replace ${name}${relying}`;
    case 'upgrade':
      if (!cycle) return `Renew ${endedParts === 1 ? 'the component' : 'the components'} under ${name}`;
      return cycle.newest === null
        ? `Replace ${cycle.label} ${cycle.cycle} under ${name}`
        : `Upgrade ${name} to ${cycle.label} ${cycle.newest}`;
    case 'replatform':
      return `Move ${name} to another platform`;
    case 'refactor':
      return `Renew ${name} from within`;
  }
}

function assessed({ technical, functional, time, classification }: CardFacts): string {
  const parts = [
    technical && `technical suitability ${technical}`,
    functional && `functional suitability ${functional}`,
    time && `TIME model ${time}`,
    classification && `classified as ${classification}`,
  ];
  return parts.filter((part) => part).join(', ');
}

function techOf({ cycle, product, version, name, hosting, subtype }: CardFacts): string {
  if (cycle) return `${cycle.label} ${cycle.cycle}`;
  if (product) return product;
  if (version) return `${name} ${version}`;
  return [name, hosting ?? subtype].filter((part) => part).join(', ');
}

/** The maximum length of a stored text. */
const LONGEST = 500;

/** Removes control and bidirectional characters from texts of cards, which would affect the display of other texts. */
const shown = (text: string): string =>
  text
    .slice(0, 4 * LONGEST)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);
