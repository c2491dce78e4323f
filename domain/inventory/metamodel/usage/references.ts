import { EstateError } from '../../../../platform/errors.ts';
import type { Reference } from '../../../kernel/context.ts';
import { dataMembers } from '../../../kernel/formulas/calculations.plan.ts';
import { type FormulaLine, parseFormula, readsOf } from '../../../kernel/formulas/formula.parse.ts';
import { FormulaError } from '../../../kernel/formulas/formula.values.ts';
import { presentKey } from '../../../kernel/metamodel/deprecations.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { flowTypes } from '../../filters/filters.fields.ts';
import { parseFilter, parsePath } from '../../filters/filters.parser.ts';
import type { FilterCondition, FilterNode, FilterWord } from '../../filters/filters.types.ts';
import { type MetamodelParts, partsOf } from './parts.ts';

/** Card types to which an object is limited; undefined: all. */
type Scope = readonly string[] | undefined;
type Values = readonly unknown[];

/** Where a text names a field by a former key, and the present one. */
interface Edit {
  word: FilterWord;
  present: string;
}

/**
 * Collects what one stored object refers to. The methods return what they read with the present keys of fields that were
 * renamed, where no other type has a field of the former key.
 */
export class References {
  readonly #metamodel: Metamodel;
  readonly #parts: MetamodelParts;
  readonly #found = new Map<string, Reference>();
  #edits: Edit[] = [];

  constructor(metamodel: Metamodel) {
    this.#metamodel = metamodel;
    this.#parts = partsOf(metamodel);
  }

  get all(): Iterable<Reference> {
    return this.#found.values();
  }

  #add(...alternatives: string[]): void {
    this.#found.set(alternatives.join(' '), alternatives);
  }

  /** A part that one of the types must have: those of the scope that have it, else any type that has it. */
  #inTypes(kind: 'field' | 'subtype' | 'role', key: string, scope: Scope): readonly string[] {
    const having = this.#parts.types.get(`${kind}.${key}`) ?? [];
    const wanted = scope ? having.filter((type) => scope.includes(type)) : having;
    const types = wanted.length > 0 ? wanted : having;
    if (types.length > 0) this.#add(...types.map((type) => `${kind}:${type}.${key}`));
    else this.#add(`${kind}:${scope?.[0] ?? '*'}.${key}`);
    return types;
  }

  /** Whether the metamodel has a visible card type, or a field of any, with the key. */
  hasType = (key: string): boolean => this.#parts.signatures.has(`type:${key}`);
  hasField = (key: string): boolean => this.#parts.types.has(`field.${key}`);

  type(...keys: readonly string[]): void {
    for (const key of keys) this.#add(`type:${key}`);
  }

  subtype(key: string, scope?: Scope): void {
    this.#inTypes('subtype', key, scope);
  }

  role(key: string, scope?: Scope): void {
    this.#inTypes('role', key, scope);
  }

  /** A field, and those of the values that are its options. */
  field(key: string, scope?: Scope, values: Values = []): string {
    const types = this.#inTypes('field', key, scope);
    const keyIn = (type: string) => presentKey(this.#metamodel, type, key) ?? key;
    const having = types.filter((type) =>
      this.#hasOptions(this.#metamodel.cardTypes.get(type)!.fields, keyIn(type)),
    );
    for (const value of having.length > 0 ? values.flat() : []) {
      const paths = having.map((type) => `option:${type}.${keyIn(type)}.${String(value)}`);
      const there = paths.filter((path) => this.#parts.signatures.has(path));
      this.#add(...(there.length > 0 ? there : paths));
    }
    const present = new Set(types.map(keyIn));
    return present.size === 1 ? [...present][0]! : key;
  }

  #hasOptions(fields: ReadonlyMap<string, { type: string }>, key: string): boolean {
    const type = fields.get(key)?.type;
    return type === 'single_select' || type === 'multiple_select';
  }

  relationType(key: string): void {
    this.#add(`relation_type:${key}`);
  }

  relationField(type: string, key: string, values: Values = []): void {
    this.#add(`relation_field:${type}.${key}`);
    const fields = this.#metamodel.relationTypes.get(type)?.fields;
    if (!fields || !this.#hasOptions(fields, key)) return;
    for (const value of values) this.#add(`relation_option:${type}.${key}.${String(value)}`);
  }

  /** A field of any of the relation types; without types, of any. */
  relationFieldOf(types: readonly string[], key: string): void {
    const wanted = types.length > 0 ? types : this.#metamodel.visibleRelationTypes;
    const paths = wanted.map((type) => `relation_field:${type}.${key}`);
    const there = paths.filter((path) => this.#parts.signatures.has(path));
    this.#add(...(there.length > 0 ? there : paths));
  }

  /** A text in the filter language; one that cannot be parsed refers to nothing. */
  filter<T extends string | null | undefined>(text: T, scope?: Scope): T {
    const node = text ? withoutErrors(() => parseFilter(text)) : undefined;
    if (node) this.#node(node, scope);
    return this.#edited(text);
  }

  /** A column or the path of a field in the filter language; other names refer to nothing. */
  path<T extends string | null | undefined>(text: T, scope?: Scope): T {
    const words = text ? withoutErrors(() => parsePath(text)) : undefined;
    if (words) this.#words(words, scope);
    return this.#edited(text);
  }

  /** The text with the present keys in the places that were found. */
  #edited<T extends string | null | undefined>(text: T): T {
    const edits = this.#edits.splice(0);
    if (!text || edits.length === 0) return text;
    const characters = [...(text as string)];
    for (const { word, present } of edits.sort((a, b) => b.word.position - a.word.position)) {
      const at = word.position - 1 + (word.quoted ? 1 : 0);
      characters.splice(at, [...word.text].length, present);
    }
    return characters.join('') as T;
  }

  #node(node: FilterNode, scope: Scope): void {
    if (node.kind === 'condition') this.#condition(node, scope);
    else if (node.kind === 'not') this.#node(node.item, scope);
    else {
      const within = node.kind === 'and' ? (typesOf(node.items) ?? scope) : scope;
      for (const item of node.items) this.#node(item, within);
    }
  }

  #condition({ path, operator, values }: FilterCondition, scope: Scope): void {
    const isMembership = operator === '=' || operator === '!=' || operator === 'in' || operator === 'not in';
    this.#words(path, scope, isMembership ? values.map((word) => word.text) : []);
  }

  #words(words: readonly FilterWord[], from: Scope, values: readonly string[] = []): void {
    let scope = from;
    let rest = words.map((word) => word.text);
    while (rest[0] === 'relation' || rest[0] === 'flow') {
      if (rest[0] === 'flow') {
        const about = rest.findIndex(
          (word) => word === 'card' || word === 'interface' || word === 'data_object',
        );
        if (about < 0) return;
        const type = flowTypes[rest[about] as 'interface' | 'data_object'];
        scope = type === undefined ? undefined : [type];
        rest = rest.slice(about + 1);
        continue;
      }
      const [, type, part, ...more] = rest;
      if (type === undefined) return;
      this.relationType(type);
      if (part === 'attributes' && more[0] !== undefined) this.relationField(type, more[0], values);
      if (part !== 'source' && part !== 'target') return;
      const end = this.#metamodel.relationTypes.get(type)?.[`${part}_type_key`];
      scope = end === undefined ? undefined : [end];
      rest = more;
    }
    const [root, name] = rest;
    if (root === 'attributes' && name !== undefined) {
      const present = this.field(name, scope, values);
      if (present !== name) this.#edits.push({ word: words[words.length - rest.length + 1]!, present });
    } else if (root === 'stakeholder' && name !== undefined) this.role(name, scope);
    else if (root === 'type') this.type(...values);
    else if (root === 'subtype') for (const value of values) this.subtype(value, scope);
  }

  /** A formula of a card type; one that cannot be parsed refers to nothing. */
  formula(text: string, type: string): string {
    const lines = withoutErrors(() => parseFormula(text));
    const reads = lines && withoutErrors(() => readsOf(lines));
    if (!lines || !reads) return text;
    let formula = text;
    const texts = literalsOf(lines);
    const { cardTypes, relationTypes } = this.#metamodel;
    const chosen = (fields: ReadonlyMap<string, { options: ReadonlySet<string> }> | undefined, key: string) =>
      texts.filter((text) => fields?.get(key)?.options.has(text));
    for (const key of reads.data) {
      if (dataMembers.includes(key)) continue;
      const now = presentKey(this.#metamodel, type, key) ?? key;
      const present = this.field(key, [type], chosen(cardTypes.get(type)?.fields, now));
      if (present !== key) formula = withMember(formula, key, present);
    }
    const compared = (of: string) => texts.filter((text) => cardTypes.get(of)?.subtypeKeys.has(text));
    if (reads.data.has('subtype')) for (const key of compared(type)) this.subtype(key, [type]);
    const peers = new Set<string>(reads.children ? [type] : []);
    for (const key of [...reads.relations, ...reads.counts]) {
      this.relationType(key);
      const ends = relationTypes.get(key);
      for (const end of ends ? [ends.source_type_key, ends.target_type_key] : []) peers.add(end);
    }
    if (reads.members.has('subtype'))
      for (const peer of peers) for (const key of compared(peer)) this.subtype(key, [peer]);
    for (const member of reads.members) {
      for (const key of reads.relations) {
        const fields = relationTypes.get(key)?.fields;
        if (fields?.has(member)) this.relationField(key, member, chosen(fields, member));
      }
      const having = [...peers].filter(
        (peer) =>
          cardTypes.get(peer)?.fields.has(member) || presentKey(this.#metamodel, peer, member) !== undefined,
      );
      if (this.hasField(member) && having.length > 0)
        this.field(
          member,
          having,
          having.flatMap((peer) => chosen(cardTypes.get(peer)!.fields, member)),
        );
    }
    return formula;
  }
}

const QUOTED = /("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/;

/** A formula that reads another member of `data`; texts in quotes stay as they are. */
const withMember = (formula: string, from: string, to: string): string =>
  formula
    .split(QUOTED)
    .map((part, n) =>
      n % 2 === 1 ? part : part.replace(new RegExp(`\\bdata\\s*\\.\\s*${from}\\b`, 'g'), `data.${to}`),
    )
    .join('');

/** The card types to which one of the conditions, all of which hold, limits cards. */
function typesOf(items: readonly FilterNode[]): string[] | undefined {
  for (const item of items) {
    const isType = item.kind === 'condition' && item.path.length === 1 && item.path[0]!.text === 'type';
    if (isType && (item.operator === '=' || item.operator === 'in'))
      return item.values.map(({ text }) => text);
  }
  return undefined;
}

/** The texts that a formula contains, which may be keys of options. */
function literalsOf(lines: readonly FormulaLine[]): string[] {
  const texts = new Set<string>();
  const pending: unknown[] = [...lines];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') texts.add(next);
    else if (typeof next === 'object' && next !== null)
      pending.push(...Object.values(next).filter((part) => part !== undefined));
  }
  return [...texts];
}

function withoutErrors<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof EstateError || error instanceof FormulaError) return undefined;
    throw error;
  }
}

/** Gives the members of an object other names, in place and in their order. */
export function renameKeys(
  members: Record<string, unknown>,
  named: (key: string, value: unknown) => string,
): void {
  const pairs = Object.entries(members).map(([key, value]) => [key, named(key, value), value] as const);
  if (pairs.every(([key, now]) => key === now)) return;
  for (const [key] of pairs) delete members[key];
  for (const [key, now, value] of pairs) members[pairs.some(([other]) => other === now) ? key : now] = value;
}
