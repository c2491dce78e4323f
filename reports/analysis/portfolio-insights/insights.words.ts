import Type from 'typebox';
import { Choice, type StaticOf } from '../../../domain/kernel/shapes.ts';
import catalogue from './insights.texts.json' with { type: 'json' };

/** Applications of one group. */
export interface GroupFacts {
  name: string;
  apps: number;
  /** Technical suitability `unreasonable` or `inappropriate`. */
  technicallyBad: number;
  cost: number | null;
}

/** Facts about the selected applications. Counts are numbers of applications unless stated otherwise. */
export interface PortfolioFacts {
  total: number;
  /** Past their end of life, and within a year before it. */
  ended: number;
  ending: number;
  /** Business-critical applications that are being phased out or past their end of life. */
  leavingCritical: number;
  withoutLifecycle: number;
  critical: number;
  technicallyBad: number;
  functionallyBad: number;
  /** Technically unsuitable and business-critical. */
  badCritical: number;
  /** By TIME model; applications without one are not counted. */
  time: { tolerate: number; invest: number; migrate: number; eliminate: number };
  /** To be eliminated or migrated, without an end of life. */
  leavingWithoutDate: number;
  /** Applications that use an IT component past its end of life, and the number of these components. */
  onEndedParts: number;
  endedParts: number;
  /** Number of capabilities with at least three applications, and the one with the most. */
  crowdedCapabilities: number;
  mostCrowded: { name: string; apps: number } | null;
  withoutCapability: number;
  withoutStakeholder: number;
  withoutSupplier: number;
  /** In percent. */
  quality: number;
  /** Null if the caller may not see costs. */
  costs: { total: number; topTenth: number; leaving: number; priced: number } | null;
  /** The requested groups, largest first; null if no grouping is requested. */
  groups: { label: string; all: GroupFacts[]; without: number } | null;
  /** The distribution of the requested attribute's values; null if none is requested. */
  colors: { label: string; values: { name: string; apps: number }[]; without: number } | null;
}

/** The members of an insight. */
export const insightMembers = {
  key: Type.String({ description: 'The key of its rule', examples: ['ended'] }),
  title: Type.String(),
  observation: Type.String(),
  recommendation: Type.String(),
  severity: Choice(['info', 'warning', 'critical']),
  figures: Type.Record(Type.String(), Type.Number(), { description: 'The figures in the observation' }),
};
export type Insight = StaticOf<typeof insightMembers>;

/** Maximum number of insights. */
const MOST = 12;
/** Minimum shares of the applications for an insight and for a warning. */
const [SOME, MANY] = [0.1, 0.25];

/** The result of a rule; title and recommendation default to those of the catalogue. */
type Found = Pick<Insight, 'observation' | 'severity' | 'figures'> & Partial<Insight>;
type Rule = (facts: PortfolioFacts) => Found | null;

const texts: Readonly<Record<string, { title?: string; recommendation?: string }>> = catalogue;

const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((100 * part) / whole));
const apps = (count: number): string => `${count} ${count === 1 ? 'application' : 'applications'}`;
const are = (count: number): string => (count === 1 ? 'is' : 'are');
const share = (part: number, { total }: PortfolioFacts): string => `${percent(part, total)} % of ${total}`;
const weight = (part: number, { total }: PortfolioFacts): Insight['severity'] =>
  part >= MANY * total ? 'critical' : part >= SOME * total ? 'warning' : 'info';

/** The rules; each returns null if it does not apply. */
const rules: Record<string, Rule> = {
  ended: (facts) => {
    const { ended, ending, leavingCritical } = facts;
    if (ended + ending === 0) return null;
    const past = `${apps(ended)} (${share(ended, facts)}) ${are(ended)} past the end of life, and ${ending} more will be`;
    const future = `${apps(ending)} (${share(ending, facts)}) will be past the end of life`;
    const severity = leavingCritical > 0 ? 'critical' : weight(ended + ending, facts);
    return {
      observation: `${ended > 0 ? past : future} within a year. Of those that end or are being phased out, ${leavingCritical} ${are(leavingCritical)} critical to the business.`,
      severity: ended === 0 && severity === 'critical' ? 'warning' : severity,
      figures: { ended, ending, leaving_critical: leavingCritical },
    };
  },
  bad_and_critical: (facts) => {
    const { badCritical, critical, technicallyBad } = facts;
    if (badCritical === 0) return null;
    return {
      observation: `${badCritical} of ${apps(critical)} critical to the business ${are(badCritical)} technically unreasonable or inappropriate; ${technicallyBad} are so in all.`,
      severity: badCritical >= MANY * critical ? 'critical' : 'warning',
      figures: { bad_critical: badCritical, critical, technically_bad: technicallyBad },
    };
  },
  functionally_bad: (facts) => {
    const { functionallyBad } = facts;
    if (functionallyBad < SOME * facts.total) return null;
    return {
      observation: `${apps(functionallyBad)} (${share(functionallyBad, facts)}) ${are(functionallyBad)} functionally insufficient or unreasonable.`,
      severity: weight(functionallyBad, facts),
      figures: { functionally_bad: functionallyBad },
    };
  },
  ended_parts: (facts) => {
    const { onEndedParts, endedParts } = facts;
    if (onEndedParts === 0) return null;
    return {
      observation: `${apps(onEndedParts)} (${share(onEndedParts, facts)}) ${onEndedParts === 1 ? 'uses' : 'use'} IT components past their end; there are ${endedParts} such components.`,
      severity: weight(onEndedParts, facts),
      figures: { on_ended_parts: onEndedParts, ended_parts: endedParts },
    };
  },
  leaving_without_date: (facts) => {
    const { leavingWithoutDate, time } = facts;
    if (leavingWithoutDate === 0) return null;
    const leaving = time.eliminate + time.migrate;
    return {
      observation: `${leavingWithoutDate} of ${apps(leaving)} to be eliminated or migrated ${leavingWithoutDate === 1 ? 'has' : 'have'} no end of life.`,
      severity: weight(leavingWithoutDate, facts),
      figures: { leaving_without_date: leavingWithoutDate, leaving },
    };
  },
  crowded_capabilities: ({ crowdedCapabilities, mostCrowded }) => {
    if (crowdedCapabilities === 0 || mostCrowded === null) return null;
    return {
      observation: `${crowdedCapabilities} ${crowdedCapabilities === 1 ? 'capability is' : 'capabilities are'} supported by three applications and more; “${mostCrowded.name}” by ${mostCrowded.apps}.`,
      severity: crowdedCapabilities >= 5 ? 'warning' : 'info',
      figures: { crowded_capabilities: crowdedCapabilities, most: mostCrowded.apps },
    };
  },
  costs: ({ costs, total }) => {
    if (!costs || costs.total <= 0) return null;
    const top = percent(costs.topTenth, costs.total);
    const leaving = percent(costs.leaving, costs.total);
    return {
      observation: `The most expensive tenth of the applications accounts for ${top} % of annual costs of ${costs.total}. ${leaving} % is spent on applications that are to be eliminated or migrated, or are past their end. ${total - costs.priced} of ${total} applications have no costs.`,
      severity: leaving >= 100 * MANY ? 'warning' : 'info',
      figures: {
        total_cost: costs.total,
        top_tenth_percent: top,
        leaving_percent: leaving,
        without_costs: total - costs.priced,
      },
    };
  },
  time: ({ time, total }) => {
    const decided = time.tolerate + time.invest + time.migrate + time.eliminate;
    if (decided === 0) return null;
    return {
      observation: `By the TIME model: tolerate ${time.tolerate}, invest ${time.invest}, migrate ${time.migrate}, eliminate ${time.eliminate}; ${total - decided} of ${total} without a decision.`,
      recommendation:
        time.invest < time.tolerate
          ? 'More applications are tolerated than invested in: check whether this is intended.'
          : 'Check each year that the budget follows these decisions.',
      severity: total - decided >= MANY * total ? 'warning' : 'info',
      figures: { ...time, undecided: total - decided },
    };
  },
  gaps: (facts) => {
    const { withoutLifecycle, withoutCapability, withoutStakeholder, withoutSupplier, quality, total } =
      facts;
    const gaps = {
      without_lifecycle: withoutLifecycle,
      without_capability: withoutCapability,
      without_stakeholder: withoutStakeholder,
      without_supplier: withoutSupplier,
    };
    const most = Math.max(...Object.values(gaps));
    if (most < SOME * total) return null;
    return {
      observation: `Without any lifecycle: ${withoutLifecycle}; without a capability: ${withoutCapability}; without anybody responsible: ${withoutStakeholder}; without a supplier: ${withoutSupplier}; of ${total}. Their data quality is ${quality} % on average.`,
      severity: most >= 2 * MANY * total ? 'warning' : 'info',
      figures: { ...gaps, quality },
    };
  },
  groups: ({ groups, total }) => {
    if (!groups || groups.all.length === 0) return null;
    const [largest] = groups.all as [GroupFacts, ...GroupFacts[]];
    const worst = groups.all
      .filter((group) => group.apps >= 3 && group.technicallyBad > 0)
      .sort((a, b) => b.technicallyBad / b.apps - a.technicallyBad / a.apps || b.apps - a.apps)[0];
    const bad = worst
      ? ` The largest share of technically unsuitable ones is in “${worst.name}”: ${worst.technicallyBad} of ${worst.apps}.`
      : '';
    return {
      title: `Distribution by ${groups.label}`,
      observation: `${groups.all.length} ${groups.all.length === 1 ? 'group' : 'groups'}; the largest is “${largest.name}” with ${largest.apps} (${percent(largest.apps, total)} %); ${groups.without} of ${total} are in none.${bad}`,
      recommendation: worst
        ? `Start with “${worst.name}”.`
        : 'Assess technical suitability group by group, the largest first.',
      severity: worst && worst.technicallyBad >= 2 * MANY * worst.apps ? 'warning' : 'info',
      figures: { groups: groups.all.length, largest: largest.apps, without: groups.without },
    };
  },
  colors: ({ colors, total }) => {
    if (!colors || colors.values.length === 0) return null;
    const shares = colors.values
      .slice(0, 5)
      .map(({ name, apps: count }) => `“${name}” ${count}`)
      .join(', ');
    return {
      title: `Distribution by ${colors.label}`,
      observation: `${shares}; ${colors.without} of ${total} without a value.`,
      recommendation:
        colors.without >= MANY * total
          ? `Fill in ${colors.label} where it is missing.`
          : 'Compare this with the target distribution.',
      severity: 'info',
      figures: { values: colors.values.length, without: colors.without },
    };
  },
};

const ORDER = { critical: 0, warning: 1, info: 2 };

/** Derives the insights from the facts, most severe first. An empty portfolio has one insight that states this. */
export function insightsOf(facts: PortfolioFacts): Insight[] {
  if (facts.total === 0) {
    return [
      {
        key: 'empty',
        title: 'No applications',
        observation: 'No application matches the filters.',
        recommendation: 'Change the filters, or add applications to the inventory.',
        severity: 'info',
        figures: { total: 0 },
      },
    ];
  }
  return Object.entries(rules)
    .flatMap(([key, rule]) => {
      const found = rule(facts);
      return found ? [{ key, title: '', recommendation: '', ...texts[key], ...found }] : [];
    })
    .sort((a, b) => ORDER[a.severity] - ORDER[b.severity])
    .slice(0, MOST);
}
