import { EstateError } from '../../../../platform/errors.ts';
import type { Reference } from '../../../kernel/context.ts';
import { dataMembers } from '../../../kernel/formulas/calculations.plan.ts';
import { type FormulaLine, parseFormula, readsOf } from '../../../kernel/formulas/formula.parse.ts';
import { FormulaError } from '../../../kernel/formulas/formula.values.ts';
import { presentKey, presentPart } from '../../../kernel/metamodel/deprecations.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { flowTypes } from '../../filters/filters.fields.ts';
import { parseFilter, parsePath } from '../../filters/filters.parser.ts';
import type { FilterCondition, FilterNode, FilterWord } from '../../filters/filters.types.ts';
import { type MetamodelParts, partsOf } from './parts.ts';

/** Card types to which an object is limited; undefined: all. */
type Scope = readonly string[] | undefined;

/** Where a text names a part by a former key, and the present one. */
interface Edit {
  word: FilterWord;
  present: string;
}

/**
 * Collects what one stored object refers to. The methods return what they read with the present keys of parts that were
 * renamed, where no other type has a part of the former key.
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

  #keyIn = (type: string, key: string) => presentKey(this.#metamodel, type, key) ?? key;

  field(key: string, scope?: Scope): string {
    const types = this.#inTypes('field', key, scope);
    return theOnly(types.map((type) => this.#keyIn(type, key))) ?? key;
  }

  /** The value of a field, or a list of values, which refer to its options if it has some. */
  value<T>(key: string, scope: Scope, value: T): T {
    const types = this.#inTypes('field', key, scope);
    const { cardTypes } = this.#metamodel;
    const fields = types.flatMap((type) => {
      const now = this.#keyIn(type, key);
      return isSelect(cardTypes.get(type)!.fields.get(now)) ? [`option:${type}.${now}.`] : [];
    });
    return this.#chosen(fields, value);
  }

  /** Options of any of the fields that the prefixes name. */
  #chosen<T>(prefixes: readonly string[], value: T): T {
    if (prefixes.length === 0 || value === null || value === undefined) return value;
    if (Array.isArray(value)) {
      const all = value.map((one) => this.#chosen(prefixes, one));
      return (all.every((one, n) => one === value[n]) ? value : [...new Set(all)]) as T;
    }
    const paths = prefixes.map((prefix) => `${prefix}${String(value)}`);
    const there = paths.filter((path) => this.#parts.signatures.has(path));
    this.#add(...(there.length > 0 ? there : paths));
    if (typeof value !== 'string') return value;
    return (theOnly(there.map((path) => presentPart(this.#metamodel, path) ?? value)) ?? value) as T;
  }

  relationType(key: string): void {
    this.#add(`relation_type:${key}`);
  }

  relationField(type: string, key: string): void {
    this.#add(`relation_field:${type}.${key}`);
  }

  relationValue<T>(type: string, key: string, value: T): T {
    const isChoice = isSelect(this.#metamodel.relationTypes.get(type)?.fields.get(key));
    return isChoice ? this.#chosen([`relation_option:${type}.${key}.`], value) : value;
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
      const text = word.quoted || PLAIN_WORD.test(present) ? present : `"${present}"`;
      characters.splice(at, [...word.text].length, text);
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
    this.#words(path, scope, isMembership ? values : []);
  }

  #edit(word: FilterWord, present: string): void {
    if (present !== word.text) this.#edits.push({ word, present });
  }

  #words(words: readonly FilterWord[], from: Scope, values: readonly FilterWord[] = []): void {
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
      if (part === 'attributes' && more[0] !== undefined) {
        this.relationField(type, more[0]);
        for (const word of values) this.#edit(word, this.relationValue(type, more[0], word.text));
      }
      if (part !== 'source' && part !== 'target') return;
      const end = this.#metamodel.relationTypes.get(type)?.[`${part}_type_key`];
      scope = end === undefined ? undefined : [end];
      rest = more;
    }
    const [root, name] = rest;
    if (root === 'attributes' && name !== undefined) {
      this.#edit(words[words.length - rest.length + 1]!, this.field(name, scope));
      for (const word of values) this.#edit(word, this.value(name, scope, word.text));
    } else if (root === 'stakeholder' && name !== undefined) this.role(name, scope);
    else if (root === 'type') this.type(...values.map(({ text }) => text));
    else if (root === 'subtype') for (const { text } of values) this.subtype(text, scope);
  }

  /**
   * A formula of a card type; one that cannot be parsed refers to nothing.
   * @param target the field that it computes, of which it may return options.
   */
  formula(text: string, type: string, target?: string): string {
    const lines = withoutErrors(() => parseFormula(text));
    const reads = lines && withoutErrors(() => readsOf(lines));
    if (!lines || !reads) return text;
    let formula = text;
    const { cardTypes, relationTypes } = this.#metamodel;
    const texts = new Literals(literalsOf(lines));
    const chosen = (of: string, key: string, types: readonly string[]) => {
      const prefixes = types.map((one) => `${of}option:${one}.${key}.`);
      return texts.all.filter((text) => prefixes.some((prefix) => this.#parts.signatures.has(prefix + text)));
    };
    const choose = (key: string, types: readonly string[]) => {
      const now = this.field(key, types);
      for (const text of chosen('', now, types)) texts.mean(text, this.value(now, types, text));
      return now;
    };
    if (target !== undefined) choose(target, [type]);
    for (const key of reads.data) {
      if (dataMembers.includes(key)) continue;
      const present = choose(key, [type]);
      if (present !== key) formula = withMember(formula, key, present);
    }
    const subtypes = (of: string) => {
      for (const text of texts.all.filter((one) => cardTypes.get(of)?.subtypeKeys.has(one))) {
        this.subtype(text, [of]);
        texts.mean(text, text);
      }
    };
    if (reads.data.has('subtype')) subtypes(type);
    const peers = new Set<string>(reads.children ? [type] : []);
    for (const key of [...reads.relations, ...reads.counts]) {
      this.relationType(key);
      const ends = relationTypes.get(key);
      for (const end of ends ? [ends.source_type_key, ends.target_type_key] : []) peers.add(end);
    }
    if (reads.members.has('subtype')) for (const peer of peers) subtypes(peer);
    for (const member of reads.members) {
      for (const key of reads.relations) {
        if (!relationTypes.get(key)?.fields.has(member)) continue;
        this.relationField(key, member);
        for (const text of chosen('relation_', member, [key]))
          texts.mean(text, this.relationValue(key, member, text));
      }
      const having = [...peers].filter(
        (peer) =>
          cardTypes.get(peer)?.fields.has(member) || presentKey(this.#metamodel, peer, member) !== undefined,
      );
      if (this.hasField(member) && having.length > 0) choose(member, having);
    }
    return texts.replacedIn(formula);
  }
}

/** The texts that a formula contains, with what they mean as options and subtypes. */
class Literals {
  readonly all: readonly string[];
  readonly #present = new Map<string, Set<string>>();

  constructor(all: readonly string[]) {
    this.all = all;
  }

  mean(text: string, present: string): void {
    this.#present.set(text, (this.#present.get(text) ?? new Set()).add(present));
  }

  /** The formula with the present keys of those that mean one thing. */
  replacedIn(formula: string): string {
    const renamed = new Map(
      [...this.#present].flatMap(([text, meanings]) => {
        const present = theOnly([...meanings]);
        return present === undefined || present === text ? [] : [[text, present] as const];
      }),
    );
    if (renamed.size === 0) return formula;
    const present = (part: string) => {
      const now = renamed.get(part.slice(1, -1));
      return now === undefined ? part : `${part[0]}${now}${part[0]}`;
    };
    return formula
      .split(QUOTED)
      .map((part, n) => (n % 2 === 1 ? present(part) : part))
      .join('');
  }
}

const theOnly = <T>(all: readonly T[]): T | undefined => (new Set(all).size === 1 ? all[0] : undefined);

const isSelect = (field: { type: string } | undefined): boolean =>
  field?.type === 'single_select' || field?.type === 'multiple_select';

/** What stands in a filter without quotes. */
const PLAIN_WORD = /^(?!(?:and|or|not|null)$)[A-Za-z_][A-Za-z0-9_-]*$/i;

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

/** Gives the members of an object other names and values, in place and in their order. */
export function renameKeys(
  members: Record<string, unknown>,
  named: (key: string, value: unknown) => [key: string, value: unknown],
): void {
  const pairs = Object.entries(members).map(([key, value]) => [key, value, ...named(key, value)] as const);
  if (pairs.every(([key, value, now, present]) => key === now && value === present)) return;
  for (const [key] of pairs) delete members[key];
  for (const [key, , now, present] of pairs)
    members[pairs.some(([other]) => other === now) ? key : now] = present;
}
