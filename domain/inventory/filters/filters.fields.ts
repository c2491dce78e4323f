import { type LifecyclePhase, lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';
import { approvalStatuses, cardStatuses } from '../cards/cards.model.ts';
import { DATA_OBJECT, INTERFACE } from '../data-flows/data-flows.model.ts';
import {
  type FilterAttributes,
  type FilterSchema,
  type FilterScope,
  type FilterTagGroup,
  rulesOf,
  type ValueRule,
} from './filters.schema.ts';
import { type FilterWord, filterError, joinWithOr } from './filters.types.ts';

/** The columns of `cards` that filters may name. */
export type FilterColumn =
  | 'id'
  | 'number'
  | 'type'
  | 'subtype'
  | 'name'
  | 'alias'
  | 'description'
  | 'external_id'
  | 'status'
  | 'approval_status'
  | 'data_quality'
  | 'parent_id'
  | 'created_at'
  | 'updated_at'
  | 'archived_at'
  | 'created_by'
  | 'updated_by';

/** What a condition tests, on a card or, for attributes and descriptions, on a relation. */
export type FilterTarget =
  | { kind: 'column'; column: FilterColumn }
  | { kind: 'attribute'; key: string }
  | { kind: 'lifecycle'; phase: LifecyclePhase }
  /** The phase on the day of the request. */
  | { kind: 'phase' }
  /** Tags of one group, or of any group. */
  | { kind: 'tags'; group?: FilterTagGroup }
  /** A column of a data flow. */
  | { kind: 'flow'; column: 'frequency' | 'description' }
  /** Users with one stakeholder role, or with any role. */
  | { kind: 'people'; role?: string };

/** A step from a card to its data flows. */
interface FlowStep {
  kind: 'flow';
  /** Where data flows, as seen from the card; absent: either way. */
  way?: FlowWay;
  /** Whether the rest of the path refers to the flow, to the card at its other end, or to what it names. */
  about: 'flow' | (typeof flowCards)[number];
}

const flowWays = ['incoming', 'outgoing'] as const;
type FlowWay = (typeof flowWays)[number];
const flowCards = ['card', 'interface', 'data_object'] as const;
const flowColumns = ['frequency', 'description'] as const;

/** A step to other cards. */
export type Step = RelationStep | FlowStep;

/** A step from a card to its relations of one type. */
export interface RelationStep {
  kind: 'relation';
  type: string;
  /** The card types that it joins. */
  ends: { source: string; target: string };
  /** The end of the other card; absent: either end. */
  other?: 'source' | 'target';
  /** Whether the rest of the path refers to the other card or to the relation. */
  about: 'card' | 'relation';
}

/** A path with its definitions from the metamodel. */
export interface FilterField {
  /** The relations and data flows of the path, outermost first. */
  steps: Step[];
  /** Absent if the condition tests the relations of the last step themselves. */
  target?: FilterTarget;
  /** How values are parsed; empty if only tests of emptiness are allowed. */
  rules: ValueRule[];
  /** Whether its values are costs. */
  cost: boolean;
}

/** The maximum number of relations in a path. */
export const FILTER_HOPS = 3;

/** Resolves a path. @throws EstateError `filter_unknown_field` at the first unknown part, `filter_limit`. */
export function resolveField(path: FilterWord[], schema: FilterSchema): FilterField {
  const steps: Step[] = [];
  let scope = schema.any;
  let rest = path;

  while (rest[0]?.text === 'relation' || rest[0]?.text === 'flow') {
    if (steps.length === FILTER_HOPS) {
      throw filterError('filter_limit', `more than ${FILTER_HOPS} relations in a row`, rest[0].position);
    }
    if (rest[0].text === 'flow') {
      const { step, more, field } = flowStep(rest);
      steps.push(step);
      if (field) return { steps, ...field };
      scope = schema.types.get(flowTypes[step.about] ?? '') ?? schema.any;
      rest = more;
      continue;
    }
    const [root, name, part, ...more] = rest as [FilterWord, ...FilterWord[]];
    const type = lookUp('relation type', root, name, schema.relations);
    const ends = { source: type.source, target: type.target };
    const step: RelationStep = { kind: 'relation', type: name!.text, ends, about: 'relation' };
    steps.push(step);
    switch (part?.text) {
      case undefined:
        return { steps, rules: [], cost: false };
      case 'attributes':
        return { steps, ...attributeField(part, more, type.attributes) };
      case 'description':
        refuseMore(more);
        return { steps, ...columnField('description', text) };
      case 'source':
      case 'target':
        step.other = part.text;
        step.about = 'card';
        break;
      default:
        throw unknown('part of a relation', part!, ['source', 'target', 'attributes', 'description']);
    }
    if (more.length === 0) return { steps, rules: [], cost: false };
    scope = schema.types.get(type[step.other]) ?? schema.any;
    rest = more;
  }
  return { steps, ...cardField(rest as [FilterWord, ...FilterWord[]], scope, schema) };
}

/** The types of the cards that a data flow names besides its ends. */
export const flowTypes: Partial<Record<FlowStep['about'], string>> = {
  interface: INTERFACE,
  data_object: DATA_OBJECT,
};

/** A step over data flows with what follows it; `field` if the path ends there. */
function flowStep([, ...words]: FilterWord[]): { step: FlowStep; more: FilterWord[]; field?: CardField } {
  const way = flowWays.find((one) => one === words[0]?.text);
  const [part, ...more] = way ? words.slice(1) : words;
  const flow = { kind: 'flow' as const, ...(way && { way }) };
  const presence = { rules: [], cost: false };
  if (!part) return { step: { ...flow, about: 'flow' }, more, field: presence };
  const column = flowColumns.find((one) => one === part.text);
  if (column) {
    refuseMore(more);
    const target = { kind: 'flow' as const, column };
    return { step: { ...flow, about: 'flow' }, more, field: { target, rules: [text], cost: false } };
  }
  const about = flowCards.find((one) => one === part.text);
  if (!about)
    throw unknown('part of a data flow', part, [...(way ? [] : flowWays), ...flowCards, ...flowColumns]);
  return { step: { ...flow, about }, more, ...(more.length === 0 && { field: presence }) };
}

type CardField = Omit<FilterField, 'steps'>;

function cardField(
  [root, ...rest]: [FilterWord, ...FilterWord[]],
  scope: FilterScope,
  schema: FilterSchema,
): CardField {
  switch (root.text) {
    case 'attributes':
      return attributeField(root, rest, scope.attributes);
    case 'lifecycle':
      return lifecycleField(root, rest);
    case 'phase':
      refuseMore(rest);
      return { target: { kind: 'phase' }, rules: [keyOf('lifecycle phase', lifecyclePhases)], cost: false };
    case 'tags':
      return tagField(rest, schema.tagGroups);
    case 'stakeholder':
      return peopleField(root, rest, scope.roles);
    default: {
      if (!Object.hasOwn(columns, root.text)) {
        const known = [...Object.keys(columns), 'attributes', 'lifecycle', 'phase', 'tags', 'stakeholder'];
        throw unknown('field', root, known);
      }
      refuseMore(rest);
      const [column, rule] = columns[root.text]!;
      return columnField(column, typeof rule === 'function' ? rule(scope, schema) : rule);
    }
  }
}

const columnField = (column: FilterColumn, rule: ValueRule): CardField => ({
  target: { kind: 'column', column },
  rules: [rule],
  cost: false,
});

const text: ValueRule = { kind: 'text' };
const nameText: ValueRule = { kind: 'text', isName: true };
const moment: ValueRule = { kind: 'moment' };
const keyOf = (what: string, keys: Iterable<string>): ValueRule => ({
  kind: 'key',
  what,
  keys: new Set(keys),
});

/** The columns of cards by their names in filters, and how their values are read. */
const columns: Record<
  string,
  [FilterColumn, ValueRule | ((scope: FilterScope, schema: FilterSchema) => ValueRule)]
> = {
  number: ['number', text],
  name: ['name', nameText],
  type: ['type', (_, { types }) => keyOf('card type', types.keys())],
  subtype: ['subtype', ({ subtypes }) => keyOf('subtype', subtypes)],
  alias: ['alias', nameText],
  description: ['description', text],
  external_id: ['external_id', nameText],
  id: ['id', { kind: 'id' }],
  parent: ['parent_id', { kind: 'id' }],
  parent_id: ['parent_id', { kind: 'id' }],
  status: ['status', keyOf('status', cardStatuses)],
  approval_status: ['approval_status', keyOf('approval status', approvalStatuses)],
  data_quality: ['data_quality', { kind: 'number' }],
  created_at: ['created_at', moment],
  updated_at: ['updated_at', moment],
  archived_at: ['archived_at', moment],
  created_by: ['created_by', { kind: 'person' }],
  updated_by: ['updated_by', { kind: 'person' }],
};

function attributeField(
  root: FilterWord,
  [name, ...more]: FilterWord[],
  attributes: FilterAttributes,
): CardField {
  const attribute = lookUp('attribute', root, name, attributes);
  refuseMore(more);
  const rules = rulesOf(attribute.types, attribute.options);
  return { target: { kind: 'attribute', key: name!.text }, rules, cost: attribute.types.has('cost') };
}

const phases: ReadonlyMap<string, LifecyclePhase> = new Map(lifecyclePhases.map((phase) => [phase, phase]));

function lifecycleField(root: FilterWord, [name, ...more]: FilterWord[]): CardField {
  const phase = lookUp('lifecycle phase', root, name, phases);
  refuseMore(more);
  return { target: { kind: 'lifecycle', phase }, rules: [{ kind: 'date' }], cost: false };
}

function tagField([name, ...more]: FilterWord[], groups: FilterSchema['tagGroups']): CardField {
  const group = name && groups.get(name.text.normalize('NFC').toLowerCase());
  if (name && !group) {
    throw unknown(
      'tag group',
      name,
      [...groups.values()].map((known) => known.name),
    );
  }
  refuseMore(more);
  return { target: { kind: 'tags', group }, rules: [{ kind: 'tag', group, groups }], cost: false };
}

function peopleField(root: FilterWord, [name, ...more]: FilterWord[], roles: ReadonlySet<string>): CardField {
  const role = name && lookUp('stakeholder role', root, name, new Map([...roles].map((key) => [key, key])));
  refuseMore(more);
  return { target: { kind: 'people', role }, rules: [{ kind: 'person' }], cost: false };
}

function lookUp<T>(
  what: string,
  root: FilterWord,
  name: FilterWord | undefined,
  known: ReadonlyMap<string, T>,
): T {
  if (!name) {
    const message = `"${root.text}" is followed by a dot and the key of a ${what}`;
    throw filterError('filter_unknown_field', message, root.position, known.keys());
  }
  const found = known.get(name.text);
  if (found === undefined) throw unknown(what, name, known.keys());
  return found;
}

function unknown(what: string, { text, position }: FilterWord, known: Iterable<string>): Error {
  const names = [...known];
  const meant = names.find((name) => name.toLowerCase() === text.toLowerCase());
  const hint = meant ?? (names.length > 0 ? joinWithOr(names) : undefined);
  const message = `"${text}" is no known ${what}${hint === undefined ? '' : ` (known is ${hint})`}`;
  return filterError('filter_unknown_field', message, position, meant === undefined ? names : [meant]);
}

function refuseMore([next]: FilterWord[]): void {
  if (next) {
    throw filterError('filter_unknown_field', `"${next.text}" follows a field without parts`, next.position);
  }
}
