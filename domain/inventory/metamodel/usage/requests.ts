import type { Ctx } from '../../../kernel/context.ts';
import { type DeprecatedPart, deprecationOf, noteParts } from '../../../kernel/metamodel/deprecations.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { isObject } from '../../../kernel/shapes.ts';
import { readParams, replaceWords, wordsOf } from './params.ts';
import { References, renameKeys } from './references.ts';

/** What a request names. */
export interface NamedParts {
  /** The declared path, as `/api/v1/metamodel/types/:key`. */
  url: string;
  params: Readonly<Record<string, unknown>>;
  query: unknown;
  body: unknown;
  /** Parts that its command has noted, by path. */
  noted: Iterable<string>;
}

/** Further members with card types, and those with columns or orders. */
const typeMembers: readonly string[] = ['types', 'card_type', 'card_type_key', 'target_type_key', 'type_key'];
const columnMembers: readonly string[] = [
  'fields',
  'columns',
  'sort_by',
  'display_fields',
  'group_by',
  'field',
];
/** Members whose names are keys, which are read by themselves, or no keys at all. */
const readApart: ReadonlySet<string> = new Set(['attributes', 'relations', 'translations', 'lifecycle']);

/** The members of a body up to which it is read. */
const MAX_OBJECTS = 5_000;
const MAX_DEPTH = 8;

class Reader {
  readonly #found: References;
  #left = MAX_OBJECTS;

  constructor(metamodel: Metamodel) {
    this.#found = new References(metamodel);
  }

  get all() {
    return this.#found.all;
  }

  /** The type and the field that a path of the metamodel names. */
  path(url: string, params: NamedParts['params'], query: unknown): void {
    const { field_key: field, option_key: option } = isObject(query) ? query : {};
    const key = String(params.key ?? params.type_key);
    if (url.startsWith('/api/v1/metamodel/types/:')) {
      this.#found.type(key);
      if (typeof field !== 'string') return;
      this.#found.field(field, [key]);
      if (typeof option === 'string') this.#found.value(field, [key], option);
    } else if (url.startsWith('/api/v1/metamodel/relation-types/:')) {
      this.#found.relationType(key);
      if (typeof field !== 'string') return;
      this.#found.relationField(key, field);
      if (typeof option === 'string') this.#found.relationValue(key, field, option);
    }
  }

  /** @param ofRelations whether `type` and `attributes` are those of relations. */
  object(part: Record<string, unknown>, ofRelations: boolean, within?: readonly string[], depth = 0): void {
    this.#left -= 1;
    if (this.#left < 0 || depth > MAX_DEPTH) return;
    const isOfRelations = ofRelations || part.kind === 'relations';
    const scope = isOfRelations ? this.#relations(part, within) : this.#cards(part, within);
    if (isObject(part.relations))
      for (const key of Object.keys(part.relations)) this.#found.relationType(key);
    for (const [name, value] of Object.entries(part)) {
      if (readApart.has(name)) continue;
      for (const inner of [value].flat())
        if (isObject(inner)) this.object(inner, isOfRelations, scope, depth + 1);
    }
  }

  #cards(part: Record<string, unknown>, within: readonly string[] | undefined) {
    const named = typeMembers
      .flatMap((name) => wordsOf(part[name]))
      .filter((key) => this.#found.hasType(key));
    this.#found.type(...named);
    const types = [...named, ...readParams(this.#found, part, named.length > 0 ? named : within)];
    const scope = types.length > 0 ? types : within;
    for (const name of columnMembers)
      replaceWords(part, name, (word) => {
        const [, sign = '', path = ''] = /^(-?)(.*)$/s.exec(word)!;
        return `${sign}${this.#found.path(path, scope)}`;
      });
    if (isObject(part.attributes))
      renameKeys(part.attributes, (key, value) =>
        this.#found.hasField(key)
          ? [this.#found.field(key, scope), this.#found.value(key, scope, value)]
          : [key, value],
      );
    return scope;
  }

  #relations(part: Record<string, unknown>, within: readonly string[] | undefined) {
    const named = ['type', 'types'].flatMap((name) => wordsOf(part[name]));
    const types = named.length > 0 ? named : (within ?? []);
    for (const key of named) this.#found.relationType(key);
    for (const name of columnMembers)
      for (const word of wordsOf(part[name])) {
        const [, key] = /^-?attributes\.(\w+)$/.exec(word) ?? [];
        if (key !== undefined) this.#found.relationFieldOf(types, key);
      }
    if (typeof part.filter === 'string') part.filter = this.#found.filter(part.filter);
    if (isObject(part.attributes))
      renameKeys(part.attributes, (key, value) => {
        for (const type of types) this.#found.relationField(type, key);
        const [type] = types;
        return [key, type === undefined ? value : this.#found.relationValue(type, key, value)];
      });
    return types;
  }
}

function readRequest(metamodel: Metamodel, { url, params, query, body }: Omit<NamedParts, 'noted'>): Reader {
  const reader = new Reader(metamodel);
  const ofRelations = /\/relations?\b/.test(url);
  reader.path(url, params, query);
  // other bodies are files and streams
  const objects = [body].flat().filter((part) => isObject(part) && part.constructor === Object);
  for (const part of [query, ...objects]) if (isObject(part)) reader.object(part, ofRelations);
  return reader;
}

/** Gives the parts that a request names by former keys their present ones, in place. @returns the paths of the former. */
export function renameParts(metamodel: Metamodel, named: Omit<NamedParts, 'noted'>): string[] {
  const paths = [...readRequest(metamodel, named).all].filter((all) => all.length === 1).flat();
  return paths.filter((path) => metamodel.aliases.has(path));
}

/** Notes the deprecated parts that a query names, which a request does not contain itself. */
export function noteQuery(ctx: Pick<Ctx, 'metamodel' | 'noted'>, query: object): void {
  const { metamodel } = ctx;
  if (metamodel.deprecations.size === 0) return;
  const { all } = readRequest(metamodel, { url: '', params: {}, query: null, body: structuredClone(query) });
  for (const paths of all)
    if (paths.every((path) => deprecationOf(metamodel, path))) noteParts(ctx, metamodel, paths);
}

/**
 * The deprecated parts that a request names: in its path, its parameters, its body, or as its command has noted. A name that
 * several types have counts if it is deprecated in all of them.
 */
export function deprecatedParts(metamodel: Metamodel, named: NamedParts): DeprecatedPart[] {
  const reader = readRequest(metamodel, named);
  const found = new Map<string, DeprecatedPart>();
  for (const paths of [...reader.all, ...[...named.noted].map((path) => [path])]) {
    const parts = paths.flatMap((path) => deprecationOf(metamodel, path) ?? []);
    if (parts.length === paths.length) for (const part of parts) found.set(part.path, part);
  }
  return [...found.values()].sort((a, b) => (a.removal < b.removal ? -1 : 1));
}
