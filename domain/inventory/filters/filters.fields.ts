import { type LifecyclePhase, lifecyclePhases } from '../../kernel/metamodel/metamodel.types.ts';
import { approvalStatuses, cardStatuses } from '../cards/cards.model.ts';
import type { FilterAttributes, FilterSchema, FilterScope, FilterTagGroup } from './filters.schema.ts';
import { rulesOf, type ValueRule } from './filters.schema.ts';
import type { FilterWord } from './filters.types.ts';
import { filterError, joinWithOr } from './filters.types.ts';

/** The columns of `cards` that filters may name. */
export type FilterColumn =
  | 'id'
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
  /** Tags of one group, or of any group. */
  | { kind: 'tags'; group?: FilterTagGroup }
  /** Users with one stakeholder role, or with any role. */
  | { kind: 'people'; role?: string };

/** A step from a card to its relations of one type. */
export interface RelationStep {
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
  /** The relations of the path, outermost first. */
  steps: RelationStep[];
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
  const steps: RelationStep[] = [];
  let scope = schema.any;
  let rest = path;

  while (rest[0]?.text === 'relation') {
    const [root, name, part, ...more] = rest as [FilterWord, ...FilterWord[]];
    if (steps.length === FILTER_HOPS) {
      throw filterError('filter_limit', `more than ${FILTER_HOPS} relations in a row`, root.position);
    }
    const type = lookUp('relation type', root, name, schema.relations);
    const ends = { source: type.source, target: type.target };
    const step: RelationStep = { type: name!.text, ends, about: 'relation' };
    steps.push(step);
    switch (part?.text) {
      case undefined:
        return { steps, rules: [], cost: false };
      case 'attributes':
        return { steps, ...attributeField(part, more, type.attributes) };
      case 'description':
        refuseMore(more);
        return { steps, ...columnField('description', { kind: 'text' }) };
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
    case 'tags':
      return tagField(rest, schema.tagGroups);
    case 'stakeholder':
      return peopleField(root, rest, scope.roles);
    default: {
      const build = columns.get(root.text);
      if (!build) {
        throw unknown('field', root, [...columns.keys(), 'attributes', 'lifecycle', 'tags', 'stakeholder']);
      }
      refuseMore(rest);
      return build(scope, schema);
    }
  }
}

const columnField = (column: FilterColumn, rule: ValueRule): CardField => ({
  target: { kind: 'column', column },
  rules: [rule],
  cost: false,
});

type FieldBuilder = (scope: FilterScope, schema: FilterSchema) => CardField;

const columns: ReadonlyMap<string, FieldBuilder> = new Map<string, FieldBuilder>([
  ['name', () => columnField('name', { kind: 'text' })],
  [
    'type',
    (_, { types }) => columnField('type', { kind: 'key', what: 'card type', keys: new Set(types.keys()) }),
  ],
  ['subtype', ({ subtypes }) => columnField('subtype', { kind: 'key', what: 'subtype', keys: subtypes })],
  ['alias', () => columnField('alias', { kind: 'text' })],
  ['description', () => columnField('description', { kind: 'text' })],
  ['external_id', () => columnField('external_id', { kind: 'text' })],
  ['id', () => columnField('id', { kind: 'id' })],
  ['parent', () => columnField('parent_id', { kind: 'id' })],
  ['parent_id', () => columnField('parent_id', { kind: 'id' })],
  ['status', () => columnField('status', { kind: 'key', what: 'status', keys: new Set(cardStatuses) })],
  [
    'approval_status',
    () =>
      columnField('approval_status', {
        kind: 'key',
        what: 'approval status',
        keys: new Set(approvalStatuses),
      }),
  ],
  ['data_quality', () => columnField('data_quality', { kind: 'number' })],
  ['created_at', () => columnField('created_at', { kind: 'moment' })],
  ['updated_at', () => columnField('updated_at', { kind: 'moment' })],
  ['archived_at', () => columnField('archived_at', { kind: 'moment' })],
  ['created_by', () => columnField('created_by', { kind: 'person' })],
  ['updated_by', () => columnField('updated_by', { kind: 'person' })],
]);

function attributeField(
  root: FilterWord,
  [name, ...more]: FilterWord[],
  attributes: FilterAttributes,
): CardField {
  const attribute = lookUp('attribute', root, name, attributes);
  refuseMore(more);
  return {
    target: { kind: 'attribute', key: name!.text },
    rules: rulesOf(attribute.types, attribute.options),
    cost: attribute.types.has('cost'),
  };
}

const phases: ReadonlyMap<string, LifecyclePhase> = new Map(lifecyclePhases.map((phase) => [phase, phase]));

function lifecycleField(root: FilterWord, [name, ...more]: FilterWord[]): CardField {
  const phase = lookUp('lifecycle phase', root, name, phases);
  refuseMore(more);
  return { target: { kind: 'lifecycle', phase }, rules: [{ kind: 'date' }], cost: false };
}

function tagField([name, ...more]: FilterWord[], groups: FilterSchema['tagGroups']): CardField {
  const group = name && groups.get(name.text.toLowerCase());
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
    throw filterError(
      'filter_unknown_field',
      `"${root.text}" is followed by a dot and the key of a ${what}`,
      root.position,
      known.keys(),
    );
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
