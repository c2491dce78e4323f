import { counted } from '../../../platform/counted.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type Answers, hasChosen } from './architect.answers.ts';
import { type Builder, createBuilder } from './architect.build.ts';
import { isCritical } from './architect.gaps.ts';
import type {
  Architecture,
  CardName,
  Facts,
  Gap,
  GapKind,
  OptionId,
  ScopeApplication,
  ScopeCapability,
} from './architect.types.ts';
import { APPLICATION, CAPABILITY, hasOption, listed } from './architect.words.ts';

/** The data from which an architecture is proposed. */
export interface ProposalInput {
  metamodel: Metamodel;
  facts: Facts;
  /** The gaps to be closed. */
  gaps: Gap[];
  answers: Answers;
  /** Names of products to be bought, in order. */
  products: string[];
}

/** The target architecture of an option, computed by rules only: equal facts result in an equal proposal. */
export function proposeArchitecture(brief: ProposalInput, option: OptionId): Architecture {
  const builder = createBuilder(brief.metamodel);
  const homes = introduceCapabilities(brief, builder);
  const plan = { ...brief, products: [...brief.products], builder, homes };
  if (option === 'keep') improve(plan);
  else if (option === 'consolidate') consolidate(plan);
  else replace(plan, option);
  return builder.architecture();
}

interface Plan extends ProposalInput {
  builder: Builder;
  /** The ids of the capabilities in proposed relations: new ones are proposed cards. */
  homes: ReadonlyMap<string, CardName>;
}

/** Proposes the capabilities that do not exist yet, and their relations to objectives. */
function introduceCapabilities({ facts }: ProposalInput, builder: Builder): Map<string, CardName> {
  const homes = new Map<string, CardName>();
  for (const capability of facts.capabilities) {
    const { id, name, type, is_new } = capability;
    if (!is_new) homes.set(id, { id, name, type });
    else {
      const card = { type, subtype: null, name, description: null, attributes: {} };
      const made = builder.add(card, ['The session names it as a new capability.']);
      if (!made) continue;
      homes.set(id, made);
      for (const objective of facts.objectives) {
        builder.relate(objective, made, `${objective.name} is the objective of the session.`);
      }
    }
  }
  return homes;
}

/** The applications with weaknesses, with the gaps that are their weaknesses. */
function weak({ facts, gaps }: ProposalInput): { application: ScopeApplication; gaps: Gap[] }[] {
  const burdens = gaps.filter(({ kind }) => kind in burden);
  const byCard = Map.groupBy(burdens, ({ card }) => card.id);
  return facts.applications.flatMap((application) => {
    const own = byCard.get(application.id);
    return own ? [{ application, gaps: own }] : [];
  });
}

const titles = (gaps: Gap[]): string[] => gaps.flatMap(({ reasons }) => reasons);

/** The attribute with the planned treatment of an application, if the workspace has it. */
const timeModel = (metamodel: Metamodel, option: string): Record<string, unknown> =>
  hasOption(metamodel, 'timeModel', option) ? { timeModel: option } : {};

/** Every application remains; weak ones are improved, and the strongest support the capabilities without applications. */
function improve(plan: Plan): void {
  const { metamodel, builder } = plan;
  for (const { application, gaps } of weak(plan)) {
    builder.touch(application, 'changed', timeModel(metamodel, 'invest'), titles(gaps));
  }
  coverByPresent(plan, new Set());
}

/** Assigns capabilities without an application to the strongest one of related capabilities, or else to a new one. */
function coverByPresent(plan: Plan, gone: ReadonlySet<string>): void {
  const { facts, gaps, builder, homes } = plan;
  const order = strongestFirst(plan).filter(({ id }) => !gone.has(id));
  const byId = new Map(facts.capabilities.map((capability) => [capability.id, capability]));
  for (const { kind, card } of gaps) {
    if (kind !== 'capability_without_application') continue;
    const home = homes.get(card.id);
    if (!home) continue;
    const parent = byId.get(card.id)?.parent_id ?? null;
    const beside = (application: ScopeApplication) =>
      parent !== null &&
      application.capability_ids.some((id) => id === parent || byId.get(id)?.parent_id === parent);
    const taker = order.find(beside) ?? (parent === null ? order[0] : undefined);
    if (taker) {
      const reason = `${taker.name} is the strongest application ${beside(taker) ? `beside ${card.name}` : 'of the session'}.`;
      builder.touch(taker, 'changed', {}, [`It takes up ${card.name}, which no application supports.`]);
      builder.relate(taker, home, reason);
    } else introduce(plan, [byId.get(card.id)!], [], 'keep');
  }
}

/** The gaps of single applications, with how much each counts against using one: most of all a planned retirement. */
const burden: Partial<Record<GapKind, number>> = {
  end_of_life: 8,
  planned_exit: 8,
  low_fit: 3,
  component_end_of_life: 1,
};

/** Applications by strength: fewer weaknesses, then higher criticality, then more relations, then by name. */
function strongestFirst({ metamodel, facts, gaps, answers }: ProposalInput): ScopeApplication[] {
  const shortcomings = new Map<string, number>();
  for (const { kind, card } of gaps) {
    if (kind in burden) shortcomings.set(card.id, (shortcomings.get(card.id) ?? 0) + burden[kind]!);
  }
  const wanted = ({ id, name }: CardName) =>
    hasChosen(answers, 'keep', id) || hasChosen(answers, 'keep', name);
  const key = (application: ScopeApplication) => [
    wanted(application) ? 0 : 1,
    shortcomings.get(application.id) ?? 0,
    isCritical(metamodel, application) ? 0 : 1,
    -application.capability_ids.length - application.other_capabilities,
    -application.peers.length,
  ];
  const keyed = facts.applications.map((application) => ({ application, key: key(application) }));
  keyed.sort((a, b) => {
    const at = a.key.findIndex((part, n) => part !== b.key[n]);
    if (at >= 0) return a.key[at]! - b.key[at]!;
    const [one, other] = [a.application, b.application];
    return one.name < other.name || (one.name === other.name && one.id < other.id) ? -1 : 1;
  });
  return keyed.map(({ application }) => application);
}

/**
 * Of applications that support the same capabilities the strongest remain. One is retired if everything that it
 * supports has a stronger application; applications that support capabilities outside the session remain.
 */
function consolidate(plan: Plan): void {
  const { facts, gaps, answers, builder, homes } = plan;
  const order = strongestFirst(plan);
  const place = new Map(order.map(({ id }, n) => [id, n]));
  const byId = new Map(order.map((application) => [application.id, application]));
  const contested = new Set(gaps.flatMap(({ kind, card }) => (kind === 'overlap' ? card.id : [])));
  /** For each capability with several applications, its applications, the strongest first. */
  const rivals = new Map(
    facts.capabilities.flatMap(({ id, application_ids }) =>
      contested.has(id)
        ? [[id, [...application_ids].sort((a, b) => place.get(a)! - place.get(b)!)] as const]
        : [],
    ),
  );
  const gone = new Set<string>();
  for (const application of [...order].reverse()) {
    const { id, name, capability_ids, other_capabilities } = application;
    if (other_capabilities > 0 || hasChosen(answers, 'keep', id) || hasChosen(answers, 'keep', name))
      continue;
    const heirs = capability_ids.map((capability) => {
      const heir = rivals.get(capability)?.find((other) => !gone.has(other));
      return heir !== undefined && place.get(heir)! < place.get(id)! ? heir : undefined;
    });
    if (heirs.length === 0 || heirs.some((heir) => heir === undefined)) continue;
    gone.add(id);
    const first = byId.get([...heirs].sort((a, b) => place.get(a!)! - place.get(b!)!)[0]!)!;
    const supported = capability_ids.map((capability) => homes.get(capability)?.name ?? '');
    retire(plan, application, [
      `${first.name} supports ${listed(supported)} as well and is the stronger one.`,
    ]);
    inherit(plan, first, application);
    builder.touch(first, 'changed', {}, [`It takes over what ${name} does.`]);
  }
  coverByPresent(plan, gone);
}

function retire({ metamodel, builder }: Plan, application: ScopeApplication, reasons: string[]): void {
  const outside =
    application.other_capabilities > 0
      ? [
          `It also supports ${counted(application.other_capabilities, 'capability', 'capabilities')} outside the session.`,
        ]
      : [];
  builder.touch(application, 'retired', timeModel(metamodel, 'eliminate'), [...reasons, ...outside]);
}

/** Relates a new application to the one that it replaces. */
const SUCCESSION = 'relAppSuccessor';
/** The types of cards whose relations to a retired application move to its replacement. */
const inherited: readonly string[] = ['Organization', 'DataObject', 'Interface'];

/** Replaces one application by another: as its successor, and for its users. */
function inherit(
  { metamodel, builder }: Plan,
  heir: CardName & { peers?: ScopeApplication['peers'] },
  old: ScopeApplication,
): void {
  if (metamodel.visibleRelationTypes.includes(SUCCESSION))
    builder.relateBy(SUCCESSION, heir, old, `${heir.name} takes the place of ${old.name}.`);
  const has = new Set(heir.peers?.map(({ id, relation_type }) => `${relation_type}/${id}`));
  for (const peer of old.peers) {
    if (!inherited.includes(peer.type) || has.has(`${peer.relation_type}/${peer.id}`)) continue;
    const [source, target] = peer.direction === 'outgoing' ? [heir, peer] : [peer, heir];
    builder.relateBy(peer.relation_type, source, target, `It is taken over from ${old.name}.`);
  }
}

/** Replaces weak applications by new ones, one for each capability that they mainly support. */
function replace(plan: Plan, option: 'buy' | 'build'): void {
  const { facts, gaps } = plan;
  const found = weak(plan);
  const capabilities = new Map(facts.capabilities.map((capability) => [capability.id, capability]));
  const none = 'Nothing in the inventory speaks against it: it is replaced since the option asks for it.';
  const leaving =
    found.length > 0
      ? found.map(({ application, gaps: own }) => ({ application, reasons: titles(own) }))
      : facts.applications.map((application) => ({ application, reasons: [none] }));
  for (const [id, members] of Map.groupBy(leaving, ({ application }) => application.capability_ids[0]!)) {
    for (const { application, reasons } of members) retire(plan, application, reasons);
    const supported = new Set(members.flatMap(({ application }) => application.capability_ids));
    const first = capabilities.get(id)!;
    const others = [...supported].filter((other) => other !== id).map((other) => capabilities.get(other)!);
    const applications = members.map(({ application }) => application);
    introduce(plan, [first, ...others], applications, option);
  }
  for (const { kind, card } of gaps) {
    if (kind === 'capability_without_application') introduce(plan, [capabilities.get(card.id)!], [], option);
  }
}

/** Proposes a new application for capabilities, which replaces others. */
function introduce(
  plan: Plan,
  capabilities: ScopeCapability[],
  places: ScopeApplication[],
  option: OptionId,
): void {
  const { metamodel, answers, builder, homes, products } = plan;
  const attributes: Record<string, unknown> = {};
  const usual = option === 'build' ? 'cloudPaaS' : 'cloudSaaS';
  const wanted = answers.get('hosting')?.filter((value) => hasOption(metamodel, 'hostingType', value)) ?? [];
  const hosting = wanted.length === 0 || wanted.includes(usual) ? usual : wanted[0]!;
  if (hasOption(metamodel, 'hostingType', hosting)) attributes.hostingType = hosting;
  if (metamodel.cardTypes.get(APPLICATION)?.fields.get('commercialApplication')?.type === 'boolean') {
    attributes.commercialApplication = option !== 'build';
  }
  const subtype = 'businessApplication';
  const known = metamodel.cardTypes.get(APPLICATION)?.subtypeKeys.has(subtype) ?? false;
  const product = option === 'build' ? undefined : products.shift();
  const made = builder.add(
    {
      type: APPLICATION,
      subtype: known ? subtype : null,
      name: product ?? `${capabilities[0]!.name} (new application)`,
      description: null,
      attributes,
    },
    [
      places.length > 0
        ? `It takes the place of ${listed(places.map(({ name }) => name))}.`
        : `No application supports ${capabilities[0]!.name}.`,
    ],
  );
  if (!made) return;
  for (const { id, name } of capabilities) {
    const home = homes.get(id);
    if (home) builder.relate(made, { ...home, type: CAPABILITY }, `It is introduced for ${name}.`);
  }
  for (const old of places) inherit(plan, made, old);
}
