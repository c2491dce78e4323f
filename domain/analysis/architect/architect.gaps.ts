import { counted } from '../../../platform/counted.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { CardName, Facts, Gap, GapKind, ScopeApplication, Severity } from './architect.types.ts';
import { APPLICATION, isLow, labelOf, listed, optionIndex } from './architect.words.ts';

/** Scales from good to bad. */
const SCALES = [
  { field: 'functionalSuitability', what: 'functional suitability' },
  { field: 'technicalSuitability', what: 'technical suitability' },
] as const;
/** The TIME values of applications to be retired. */
const EXITS: readonly unknown[] = ['migrate', 'eliminate'];
const rank: Record<Severity, number> = { high: 0, medium: 1, low: 2 };

const named = ({ id, name, type }: CardName): CardName => ({ id, name, type });

/** The gaps of the current architecture, the most severe first. */
export function findGaps(metamodel: Metamodel, facts: Facts): Gap[] {
  return [
    ...uncovered(facts),
    ...facts.applications.flatMap((application) => weaknesses(metamodel, facts, application)),
    ...overlaps(facts),
  ].sort((a, b) => rank[a.severity] - rank[b.severity]);
}

/** Whether outages of an application are severe: its criticality is in the first half of the scale. */
export function isCritical(metamodel: Metamodel, application: ScopeApplication): boolean {
  const place = optionIndex(metamodel, 'businessCriticality', application);
  return place !== null && !isLow(metamodel, 'businessCriticality', application);
}

/** Capabilities that no application supports, including all their descendants; only the topmost of each branch. */
function uncovered({ capabilities, objectives }: Facts): Gap[] {
  const byId = new Map(capabilities.map((capability) => [capability.id, capability]));
  const covered = new Set<string>();
  for (const { id, application_ids } of capabilities) {
    if (application_ids.length === 0) continue;
    for (let at = byId.get(id); at && !covered.has(at.id); at = byId.get(at.parent_id ?? ''))
      covered.add(at.id);
  }
  const bare = capabilities.filter(
    ({ id, parent_id }) => !covered.has(id) && (!byId.has(parent_id ?? '') || covered.has(parent_id!)),
  );
  return bare.map((capability): Gap => {
    const served = objectives.filter(({ id }) => capability.objective_ids.includes(id));
    return {
      id: idOf('capability_without_application', capability),
      kind: 'capability_without_application',
      severity: served.length > 0 ? 'high' : 'medium',
      title: `No application supports ${capability.name}`,
      card: named(capability),
      related: served.map(named),
      reasons: [
        capability.is_new
          ? 'The capability is new: nothing in the inventory supports it.'
          : 'No active application is related to the capability or to any below it.',
        ...served.map(({ name }) => `The objective ${name} rests on it.`),
      ],
      recommendation: `Let a present application take ${capability.name} up, or introduce one.`,
    };
  });
}

const idOf = (kind: GapKind, { id }: CardName): string => `${kind}:${id}`;

/** The gaps of one application. */
function weaknesses(metamodel: Metamodel, { day, horizon }: Facts, application: ScopeApplication): Gap[] {
  const gaps: Gap[] = [];
  const critical = isCritical(metamodel, application);
  const because = critical
    ? [`Its business criticality is ${labelOf(metamodel, 'businessCriticality', application)}.`]
    : [];
  const add = (
    kind: GapKind,
    gap: Pick<Gap, 'title' | 'reasons' | 'recommendation' | 'severity'> & { related?: CardName[] },
  ) =>
    gaps.push({
      id: idOf(kind, application),
      kind,
      ...gap,
      card: named(application),
      related: (gap.related ?? []).map(named),
      reasons: [...gap.reasons, ...because],
    });
  const { name, ends_on, peers, attributes } = application;
  if (ends_on !== null && ends_on <= horizon) {
    const over = ends_on <= day;
    add('end_of_life', {
      severity: over || critical ? 'high' : 'medium',
      title: over ? `${name} is past its end of life` : `${name} reaches its end of life`,
      reasons: [`Its end of life is ${ends_on}; the session looks ahead to ${horizon}.`],
      recommendation: `Replace ${name} before ${over ? 'it fails' : ends_on}, or have its support prolonged.`,
    });
  }
  const ending = peers.filter(
    (peer) => peer.type !== APPLICATION && peer.ends_on !== null && peer.ends_on <= horizon,
  );
  if (ending.length > 0) {
    const over = ending.some((peer) => peer.ends_on! <= day);
    add('component_end_of_life', {
      severity: over && critical ? 'high' : over || critical ? 'medium' : 'low',
      title: `${name} rests on what reaches its end of life`,
      related: ending,
      reasons: [`${listed(ending.map((peer) => `${peer.name} (${peer.ends_on})`))}.`],
      recommendation: `Move ${name} to supported components.`,
    });
  }
  const low = SCALES.filter(({ field }) => isLow(metamodel, field, application));
  if (low.length > 0) {
    add('low_fit', {
      severity: critical ? 'high' : low.length > 1 ? 'medium' : 'low',
      title: `${name} does not fit well`,
      reasons: low.map(({ field, what }) => `Its ${what} is ${labelOf(metamodel, field, application)}.`),
      recommendation: `Improve ${name}, or replace it.`,
    });
  }
  if (EXITS.includes(attributes.timeModel)) {
    add('planned_exit', {
      severity: critical ? 'medium' : 'low',
      title: `${name} is to be given up`,
      reasons: [`Its TIME model is ${labelOf(metamodel, 'timeModel', application)}.`],
      recommendation: `Decide what takes the place of ${name}.`,
    });
  }
  return gaps;
}

/** Capabilities that several applications support. */
function overlaps({ capabilities, applications }: Facts): Gap[] {
  const byId = new Map(applications.map((application) => [application.id, application]));
  return capabilities.flatMap((capability): Gap[] => {
    const many = capability.application_ids.flatMap((id) => byId.get(id) ?? []);
    if (many.length < 2) return [];
    return [
      {
        id: idOf('overlap', capability),
        kind: 'overlap',
        severity: many.length > 3 ? 'medium' : 'low',
        title: `${counted(many.length, 'application')} support ${capability.name}`,
        card: named(capability),
        related: many.slice(0, 50).map(named),
        reasons: [`${listed(many.map(({ name }) => name))} support the same capability.`],
        recommendation: `Find out whether fewer applications can support ${capability.name}.`,
      },
    ];
  });
}
