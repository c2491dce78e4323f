import { DATA_OBJECT, INTERFACE } from '../../../../domain/inventory/data-flows/data-flows.model.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type {
  CardType,
  CompiledField,
  Metamodel,
  RelationType,
} from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { AppPermission } from '../../../../domain/kernel/permissions/permissions.data.ts';
import { may } from '../../../../domain/kernel/permissions/policy.ts';
import { sha256 } from '../../../../platform/crypto.ts';
import {
  attributeProperty,
  cardProperties,
  costProperties,
  flowProperties,
  relationProperties,
} from './model.properties.ts';
import type { EntitySet, Navigation, NavigationPath, ODataModel, ODataProperty } from './model.types.ts';

/** Names that the schema itself uses. */
const CONTAINER = 'EstateContainer';

/** Returns a function that returns unique names, compared without case: the first free of the wanted ones, else numbered. */
function createNames(taken: Iterable<string> = [CONTAINER]): (...wanted: string[]) => string {
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  return (...wanted) => {
    const last = wanted.at(-1)!;
    for (let n = 0; ; n += 1) {
      const name = n < wanted.length ? wanted[n]! : `${last}_${n - wanted.length + 2}`;
      if (used.has(name.toLowerCase())) continue;
      used.add(name.toLowerCase());
      return name;
    }
  };
}

export const containerName = CONTAINER;

/** A type name from a key: the first letter is upper case. */
const pascal = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);

interface Rights {
  costs: boolean;
  relations: boolean;
}

const models = new WeakMap<Metamodel, Map<string, ODataModel>>();

/** The entity model of what the caller may read, built once per metamodel version and set of rights. */
export function odataModel(ctx: Ctx): ODataModel {
  const rights = { costs: may(ctx.caller, 'costs.view'), relations: may(ctx.caller, 'relations.view') };
  const key = JSON.stringify(rights);
  let kept = models.get(ctx.metamodel);
  if (!kept) {
    kept = new Map();
    models.set(ctx.metamodel, kept);
  }
  let model = kept.get(key);
  if (!model) {
    model = buildModel(ctx.metamodel, rights);
    kept.set(key, model);
  }
  return model;
}

/** Names of the sets; independent of the caller's rights, so that client queries stay valid. */
interface SetNames {
  cards: Map<string, string>;
  relations: Map<string, string>;
  flows: string;
  costs: string;
}

function nameSets(metamodel: Metamodel): SetNames {
  const name = createNames();
  const named = (keys: string[], suffix: string) =>
    new Map([...keys].sort().map((key) => [key, name(pascal(key), `${pascal(key)}${suffix}`)]));
  const relations = named(metamodel.visibleRelationTypes, '_relations');
  const cards = named(metamodel.visibleTypes, '_cards');
  return { cards, relations, flows: name('DataFlows'), costs: name('CostPeriods') };
}

function buildModel(metamodel: Metamodel, rights: Rights): ODataModel {
  const names = nameSets(metamodel);
  const sets = new Map<string, EntitySet>();
  for (const key of metamodel.visibleTypes) {
    const set = cardSet(metamodel, metamodel.cardTypes.get(key)!, names, rights);
    sets.set(set.name, set);
  }
  if (rights.relations) {
    for (const key of metamodel.visibleRelationTypes) {
      const set = relationSet(metamodel.relationTypes.get(key)!, names, rights);
      sets.set(set.name, set);
    }
    sets.set(names.flows, flowSet(metamodel, names, rights));
  }
  if (rights.costs) sets.set(names.costs, costSet(names, rights));
  const forbidden = new Map<string, AppPermission>();
  if (!rights.relations) {
    for (const name of [...names.relations.values(), names.flows]) forbidden.set(name, 'relations.view');
  }
  if (!rights.costs) forbidden.set(names.costs, 'costs.view');
  return { sets, forbidden };
}

/** Properties and navigations of a set. On a name conflict an attribute is renamed, not a member or relation. */
function members(
  fixed: [string, ODataProperty][],
  navigations: (name: (...wanted: string[]) => string) => Navigation[],
  fields: ReadonlyMap<string, CompiledField>,
  rights: Rights,
): Pick<EntitySet, 'properties' | 'navigations' | 'hiddenCosts' | 'shape'> {
  const name = createNames(fixed.map(([key]) => key));
  const isHidden = ({ path }: Navigation) => path.kind === 'costs' && !rights.costs;
  const all = navigations(name);
  const ways = all.filter((one) => !isHidden(one));
  const properties = new Map(fixed);
  const hiddenCosts = new Set(all.filter(isHidden).map((one) => one.name));
  for (const field of fields.values()) {
    const own = name(field.key, `attributes_${field.key}`);
    if (field.type === 'cost' && !rights.costs) hiddenCosts.add(own);
    else properties.set(own, attributeProperty(own, field));
  }
  const listed = [...properties.values()].map((one) => [one.name, one.type, one.collection]);
  const shape = sha256(JSON.stringify(listed)).slice(0, 16);
  return { properties, navigations: new Map(ways.map((path) => [path.name, path])), hiddenCosts, shape };
}

function cardSet(metamodel: Metamodel, type: CardType, names: SetNames, rights: Rights): EntitySet {
  const own = names.cards.get(type.key)!;
  const navigations = (name: (...wanted: string[]) => string): Navigation[] => {
    const found: Navigation[] = [];
    const parent = name('Parent');
    const children = name('Children');
    if (type.has_hierarchy) {
      found.push(
        {
          name: parent,
          target: own,
          collection: false,
          nullable: true,
          label: 'The card above',
          path: { kind: 'parent' },
          partner: children,
        },
        {
          name: children,
          target: own,
          collection: true,
          nullable: false,
          label: 'The cards below',
          path: { kind: 'children' },
          partner: parent,
        },
      );
    }
    // named before rights are applied, so that names do not depend on rights
    for (const key of [...metamodel.visibleRelationTypes].sort()) {
      const relation = metamodel.relationTypes.get(key)!;
      for (const from of ['source', 'target'] as const) {
        if (relation[`${from}_type_key`] !== type.key) continue;
        found.push(...relationNavigations(relation, from, names, name));
      }
    }
    const flows = (wanted: string, label: string, column: FlowColumn) =>
      found.push(many(name(wanted), names.flows, label, { kind: 'flows', column }));
    if (type.has_data_flows) {
      flows('OutgoingDataFlows', 'Data flows from the card', 'source_id');
      flows('IncomingDataFlows', 'Data flows to the card', 'target_id');
    }
    if (type.key === INTERFACE) flows('DataFlows', 'Data flows over the interface', 'interface_id');
    if (type.key === DATA_OBJECT) flows('DataFlows', 'Data flows of the data object', 'data_object_ids');
    found.push(costsOf(name, names, 'card_id'));
    return rights.relations
      ? found
      : found.filter(({ path }) => ['parent', 'children', 'costs'].includes(path.kind));
  };
  return {
    name: own,
    kind: 'card',
    table: 'cards',
    key: type.key,
    label: type.label,
    ...members(cardProperties, navigations, type.fields, rights),
  };
}

type FlowColumn = Extract<NavigationPath, { kind: 'flows' }>['column'];

const many = (name: string, target: string, label: string, path: NavigationPath): Navigation => ({
  ...{ name, target, label, path },
  collection: true,
  nullable: false,
});

const single = (name: string, target: string, label: string, path: NavigationPath): Navigation => ({
  ...{ name, target, label, path },
  collection: false,
  nullable: true,
});

const costsOf = (
  name: (...wanted: string[]) => string,
  names: SetNames,
  column: 'card_id' | 'relation_id',
): Navigation => many(name('CostPeriods'), names.costs, 'Costs by period', { kind: 'costs', column });

/** Navigations from a card to related cards and to the relations themselves. */
function relationNavigations(
  relation: RelationType,
  from: 'source' | 'target',
  names: SetNames,
  name: (...wanted: string[]) => string,
): Navigation[] {
  const { key, cardinality } = relation;
  const other = from === 'source' ? 'target' : 'source';
  const back = from === 'target' && relation.source_type_key === relation.target_type_key;
  const base = back ? `${pascal(key)}_Reverse` : pascal(key);
  // 1:n: a source has many targets, a target has one source
  const single = cardinality === '1:1' || (cardinality === '1:n' && from === 'target');
  const label = (from === 'source' ? relation.label : relation.reverse_label) ?? relation.label;
  return [
    {
      name: name(base),
      target: names.cards.get(relation[`${other}_type_key`])!,
      collection: !single,
      nullable: single,
      label,
      path: { kind: 'related', relationType: key, from },
    },
    {
      name: name(`${base}_Relations`),
      target: names.relations.get(key)!,
      collection: true,
      nullable: false,
      label: `${label}: the relations themselves`,
      path: { kind: 'relations', relationType: key, from },
    },
  ];
}

function relationSet(relation: RelationType, names: SetNames, rights: Rights): EntitySet {
  const end = (name: string, which: 'source' | 'target'): Navigation => ({
    name,
    target: names.cards.get(relation[`${which}_type_key`])!,
    collection: false,
    nullable: false,
    label: which === 'source' ? 'Source card' : 'Target card',
    path: { kind: 'card', column: `${which}_id` },
  });
  const navigations = (name: (...wanted: string[]) => string) => [
    end(name('Source'), 'source'),
    end(name('Target'), 'target'),
    costsOf(name, names, 'relation_id'),
  ];
  return {
    name: names.relations.get(relation.key)!,
    kind: 'relation',
    table: 'relations',
    key: relation.key,
    label: relation.label,
    ...members(relationProperties, navigations, relation.fields, rights),
  };
}

/** The data flows: an end can be of several types, and each type has its own navigation. */
function flowSet({ cardTypes }: Metamodel, names: SetNames, rights: Rights): EntitySet {
  const navigations = (name: (...wanted: string[]) => string): Navigation[] => {
    const found: Navigation[] = [];
    for (const end of ['Source', 'Target']) {
      for (const [type, set] of names.cards) {
        if (!cardTypes.get(type)!.has_data_flows) continue;
        const path = { kind: 'card', column: `${end.toLowerCase()}_id`, type } as const;
        found.push(single(name(`${end}_${set}`), set, `${end}, if it is of this type`, path));
      }
    }
    const [over, of] = [names.cards.get(INTERFACE), names.cards.get(DATA_OBJECT)];
    if (over) {
      found.push(single(name('Interface'), over, 'Interface', { kind: 'card', column: 'interface_id' }));
    }
    if (of) found.push(many(name('DataObjects'), of, 'Data objects', { kind: 'data_objects' }));
    return found;
  };
  return {
    name: names.flows,
    kind: 'data_flow',
    table: 'data_flows',
    key: '',
    label: 'Data flows',
    ...members(flowProperties, navigations, new Map(), rights),
  };
}

/** The costs of cards and relations by period. */
function costSet(names: SetNames, rights: Rights): EntitySet {
  const navigations = (name: (...wanted: string[]) => string): Navigation[] =>
    [...names.cards].map(([type, set]) =>
      single(name(`Card_${set}`), set, 'Card, if it is of this type', {
        kind: 'card',
        column: 'card_id',
        type,
      }),
    );
  return {
    name: names.costs,
    kind: 'cost',
    table: 'costs',
    key: '',
    label: 'Costs by period',
    ...members(costProperties, navigations, new Map(), rights),
  };
}
