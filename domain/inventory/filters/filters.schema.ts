import { isUuid } from '../../../platform/uuid.ts';
import { isDay } from '../../kernel/dates.ts';
import type { CardType, CompiledField, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { FieldType } from '../../kernel/metamodel/metamodel.types.ts';
import { readBoolean } from '../../kernel/transfer/csv-cells.ts';
import { type FilterWord, joinWithOr, rangeOperators } from './filters.types.ts';

/** An attribute in filters: card types may define the same key with different types and options. */
interface FilterAttribute {
  types: ReadonlySet<FieldType>;
  options: ReadonlySet<string>;
}

export type FilterAttributes = ReadonlyMap<string, FilterAttribute>;

/** The names that a filter can use on cards of one type, or of any type. */
export interface FilterScope {
  attributes: FilterAttributes;
  subtypes: ReadonlySet<string>;
  /** Keys of stakeholder roles. */
  roles: ReadonlySet<string>;
}

interface FilterRelationType {
  /** The card type at either end. */
  source: string;
  target: string;
  attributes: FilterAttributes;
}

export interface FilterTagGroup {
  id: string;
  name: string;
}

/** All names that a filter can use, besides the fields that every card has. */
export interface FilterSchema {
  any: FilterScope;
  /** By card type key: the types that filters may name. */
  types: ReadonlyMap<string, FilterScope>;
  /** By relation type key. */
  relations: ReadonlyMap<string, FilterRelationType>;
  /** By lower-case name. */
  tagGroups: ReadonlyMap<string, FilterTagGroup>;
}

/** The schema of the visible card and relation types, with the given tag groups. */
export function createFilterSchema(
  metamodel: Metamodel,
  tagGroups: Iterable<FilterTagGroup> = [],
): FilterSchema {
  const types = metamodel.visibleTypes.map((key) => metamodel.cardTypes.get(key)!);
  return {
    types: new Map(types.map((type) => [type.key, scopeOf([type])])),
    any: scopeOf(types),
    relations: new Map(
      metamodel.visibleRelationTypes.map((key) => {
        const type = metamodel.relationTypes.get(key)!;
        const attributes = attributesOf(type.fields.values());
        return [key, { source: type.source_type_key, target: type.target_type_key, attributes }];
      }),
    ),
    tagGroups: new Map([...tagGroups].map((group) => [group.name.toLowerCase(), group])),
  };
}

/** The combined names of several card types. */
export const scopeOf = (types: readonly CardType[]): FilterScope => ({
  attributes: attributesOf(types.flatMap(({ fields }) => [...fields.values()])),
  subtypes: new Set(types.flatMap(({ subtypeKeys }) => [...subtypeKeys])),
  roles: new Set(types.flatMap(({ stakeholderRoles }) => stakeholderRoles.map(({ key }) => key))),
});

function attributesOf(fields: Iterable<CompiledField>): FilterAttributes {
  const attributes = new Map<string, { types: Set<FieldType>; options: Set<string> }>();
  for (const field of fields) {
    const known = attributes.get(field.key) ?? { types: new Set(), options: new Set() };
    known.types.add(field.type);
    for (const option of field.options) known.options.add(option);
    attributes.set(field.key, known);
  }
  return attributes;
}

/** The span of a timestamp or date: a timestamp represents its millisecond, a date its day in UTC. */
export interface TimeSpan {
  /** RFC 3339 in UTC. */
  from: string;
  span: 'millisecond' | 'day';
}

/** A user by id or e-mail address, or the caller. */
export type Person = { id: string } | { email: string } | { me: true };

interface TagName {
  groupId: string;
  name: string;
}

/** How a value is parsed, by the kind of the field. */
export interface FilterValues {
  text: string;
  /** One of a closed list. */
  key: string;
  /** An option of a field that has several. */
  keys: string;
  number: number;
  boolean: boolean;
  date: string;
  moment: TimeSpan;
  id: string;
  person: Person;
  tag: TagName;
}

export type ValueKind = keyof FilterValues;

/** How the values of a field are parsed. */
export type ValueRule =
  | { kind: Exclude<ValueKind, 'key' | 'keys' | 'tag' | 'text'> }
  /** The text of a name, which is stored in one Unicode form. */
  | { kind: 'text'; isName?: boolean }
  | { kind: 'key' | 'keys'; what: string; keys: ReadonlySet<string> }
  | { kind: 'tag'; group?: FilterTagGroup; groups: ReadonlyMap<string, FilterTagGroup> };

/** The remaining operators after `!=`, `not in` and `=` are converted to (negated) `in`. */
export type TestOperator = 'in' | '~' | 'starts with' | (typeof rangeOperators)[number];

const MEMBERSHIP: ReadonlySet<TestOperator> = new Set(['in']);
const ORDERED: ReadonlySet<TestOperator> = new Set(['in', ...rangeOperators]);
const TEXTUAL: ReadonlySet<TestOperator> = new Set(['in', '~', 'starts with']);

/** The operators that a kind of value supports, besides the tests of emptiness. */
export function operatorsOf(kind: ValueKind): ReadonlySet<TestOperator> {
  if (kind === 'text') return TEXTUAL;
  return kind === 'number' || kind === 'date' || kind === 'moment' ? ORDERED : MEMBERSHIP;
}

/** The rules for an attribute of the given types: several if card types define the key differently. */
export function rulesOf(types: Iterable<FieldType>, options: ReadonlySet<string>): ValueRule[] {
  const rules = new Map<ValueKind, ValueRule>();
  for (const type of types) {
    const rule = ruleOf(type, options);
    rules.set(rule.kind, rule);
  }
  return [...rules.values()];
}

function ruleOf(type: FieldType, options: ReadonlySet<string>): ValueRule {
  switch (type) {
    case 'text':
    case 'multiline_text':
    case 'url':
      return { kind: 'text' };
    case 'number':
    case 'cost':
      return { kind: 'number' };
    case 'single_select':
      return { kind: 'key', what: 'option', keys: options };
    case 'multiple_select':
      return { kind: 'keys', what: 'option', keys: options };
    case 'boolean':
    case 'date':
      return { kind: type };
  }
}

/** The value of the word, or undefined if it is not valid for the kind. */
export function readValue(rule: ValueRule, word: FilterWord): FilterValues[ValueKind] | undefined {
  switch (rule.kind) {
    case 'text':
      return rule.isName ? word.text.normalize('NFC') : word.text;
    case 'key':
    case 'keys':
      return rule.keys.has(word.text) ? word.text : undefined;
    case 'number':
      return word.quoted ? undefined : readNumber(word.text);
    case 'boolean':
      return word.quoted ? undefined : readBoolean(word.text);
    case 'date':
      return isDay(word.text) ? word.text : undefined;
    case 'moment':
      return readMoment(word.text);
    case 'id':
      return readId(word.text);
    case 'person':
      return readPerson(word);
    case 'tag': {
      const name = word.text.normalize('NFC');
      return rule.group ? { groupId: rule.group.id, name } : readTag(name, rule.groups);
    }
  }
}

const NUMBER = /^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

function readNumber(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  // JSON has no minus zero.
  return Number.isFinite(value) ? value + 0 : undefined;
}

const TIMESTAMP =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}[tT]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/;
function readMoment(text: string): TimeSpan | undefined {
  if (isDay(text)) return { from: `${text}T00:00:00.000Z`, span: 'day' };
  if (!TIMESTAMP.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const from = new Date(text.toUpperCase()).toISOString();
  // An offset may lead to a year that does not have four digits.
  return isDay(from.slice(0, 10)) ? { from, span: 'millisecond' } : undefined;
}

const readId = (text: string): string | undefined => (isUuid(text) ? text.toLowerCase() : undefined);

function readPerson({ text, quoted }: FilterWord): Person | undefined {
  if (!quoted && text.toLowerCase() === 'me') return { me: true };
  const id = readId(text);
  if (id !== undefined) return { id };
  return text.includes('@') ? { email: text } : undefined;
}

/** Parses `Group/Tag`; both names may contain a slash. */
function readTag(text: string, groups: ReadonlyMap<string, FilterTagGroup>): TagName | undefined {
  for (let slash = text.indexOf('/'); slash >= 0; slash = text.indexOf('/', slash + 1)) {
    const group = groups.get(text.slice(0, slash).toLowerCase());
    const name = text.slice(slash + 1);
    if (group && name !== '') return { groupId: group.id, name };
  }
  return undefined;
}

/** The values that the rule accepts, for a message. */
export function describeRule(rule: ValueRule): string {
  switch (rule.kind) {
    case 'text':
      return 'text';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'date':
      return 'a date such as 2027-01-31';
    case 'moment':
      return 'a date or a timestamp with its offset, such as 2026-01-01T00:00:00Z';
    case 'id':
      return 'an id (UUID)';
    case 'person':
      return "me, an e-mail address in quotes or a user's id";
    case 'tag':
      return rule.group ? 'the name of a tag' : 'a known group and a tag as "Group/Tag"';
    case 'key':
    case 'keys':
      return rule.keys.size > 0 ? `the ${rule.what} ${joinWithOr(rule.keys)}` : `no ${rule.what} at all`;
  }
}

/** The valid values of the rule, if they can be listed. */
export function listRule(rule: ValueRule): string[] {
  switch (rule.kind) {
    case 'key':
    case 'keys':
      return [...rule.keys];
    case 'boolean':
      return ['true', 'false'];
    case 'tag':
      return rule.group ? [] : [...rule.groups.values()].map((group) => `${group.name}/…`);
    default:
      return [];
  }
}
