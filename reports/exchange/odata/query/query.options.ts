import { invalidQuery, notSupported } from '../odata.errors.ts';
import { type Aliases, parseFilter, parseOrderBy } from './query.expressions.ts';
import type { ExpandItem, NestedOptions, Search } from './query.types.ts';

/** Maximum nesting and total number of items of `$expand`. */
const MAX_EXPAND_DEPTH = 3;
const MAX_EXPANDS = 20;
const LARGEST = 1_000_000_000;

/** Query options by name with `$`. */
export type SentOptions = Readonly<Record<string, string | undefined>>;

/** Parses a non-negative integer. @throws EstateError naming the option. */
function parseInteger(text: string, option: string): number {
  const trimmed = text.trim();
  if (!/^\d{1,10}$/.test(trimmed) || Number(trimmed) > LARGEST) {
    throw invalidQuery(option, `"${trimmed.slice(0, 20)}" is not an integer from 0 to ${LARGEST}`);
  }
  return Number(trimmed);
}

function parseBoolean(text: string, option: string): boolean {
  const lower = text.trim().toLowerCase();
  if (lower !== 'true' && lower !== 'false') throw invalidQuery(option, 'must be true or false');
  return lower === 'true';
}

const kept = ['$filter', '$orderby', '$select', '$expand', '$search'] as const;

/** Parses the query options of a set or of an expanded navigation. @throws EstateError for invalid options. */
export function readOptions(
  sent: SentOptions,
  aliases: Aliases,
  used: { expands: number; depth: number } = { expands: 0, depth: 0 },
): NestedOptions {
  for (const option of ['$compute', '$apply', '$levels', '$index', '$schemaversion'] as const) {
    if (sent[option] !== undefined) throw notSupported(option, 'is not supported');
  }
  return {
    select: sent.$select === undefined ? undefined : parseSelect(sent.$select),
    expand: sent.$expand === undefined ? [] : parseExpand(sent.$expand, aliases, used),
    filter: sent.$filter === undefined ? undefined : parseFilter(sent.$filter, '$filter', aliases),
    orderby: sent.$orderby === undefined ? [] : parseOrderBy(sent.$orderby, '$orderby', aliases),
    top: sent.$top === undefined ? undefined : parseInteger(sent.$top, '$top'),
    skip: sent.$skip === undefined ? 0 : parseInteger(sent.$skip, '$skip'),
    count: sent.$count !== undefined && parseBoolean(sent.$count, '$count'),
    search: sent.$search === undefined ? undefined : parseSearch(sent.$search),
    sent: Object.fromEntries(
      kept.flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]] as const])),
    ),
  };
}

function parseSelect(text: string): string[] | undefined {
  const names = splitOutside(text, ',', '$select').map(({ text: part }) => part.trim());
  for (const name of names) {
    if (name === '*') continue;
    if (/[(/.]/.test(name))
      throw notSupported('$select', `"${name}": only names of properties are supported`);
    if (!/^[A-Za-z_]\w*$/.test(name)) throw invalidQuery('$select', `"${name}" is not a property name`);
  }
  return names.includes('*') ? undefined : [...new Set(names)];
}

function parseExpand(text: string, aliases: Aliases, used: { expands: number; depth: number }): ExpandItem[] {
  if (used.depth >= MAX_EXPAND_DEPTH) {
    throw invalidQuery('$expand', `goes at most ${MAX_EXPAND_DEPTH} levels deep`);
  }
  const items: ExpandItem[] = [];
  for (const { text: part } of splitOutside(text, ',', '$expand')) {
    const found = /^\s*(\*|[A-Za-z_]\w*)(\/\$(?:ref|count))?\s*(?:\((.*)\))?\s*$/is.exec(part);
    if (!found) {
      if (/^\s*[\w.]+\//.test(part))
        throw notSupported('$expand', `"${part.trim()}": nest $expand instead of a path`);
      throw invalidQuery('$expand', `"${part.trim().slice(0, 40)}" cannot be read`);
    }
    const [, name, suffix, inner] = found;
    if (name === '*') throw notSupported('$expand', '* is not supported: name the navigation properties');
    if (suffix?.toLowerCase() === '/$count')
      throw notSupported('$expand', `/$count is not supported: use ${name}($count=true;$top=0)`);
    used.expands += 1;
    if (used.expands > MAX_EXPANDS) throw invalidQuery('$expand', `names more than ${MAX_EXPANDS} items`);
    if (items.some((item) => item.name === name)) throw invalidQuery('$expand', `names ${name} twice`);
    used.depth += 1;
    const options = readOptions(nestedOptions(inner, name!), aliases, used);
    used.depth -= 1;
    items.push({ name: name!, references: suffix !== undefined, options });
  }
  return items;
}

const nestable = new Set([
  'select',
  'expand',
  'filter',
  'orderby',
  'top',
  'skip',
  'count',
  'search',
  'levels',
  'compute',
]);

function nestedOptions(inner: string | undefined, name: string): SentOptions {
  const sent: Record<string, string> = {};
  if (inner === undefined || inner.trim() === '') return sent;
  for (const { text } of splitOutside(inner, ';', '$expand')) {
    const equals = text.indexOf('=');
    const key = text.slice(0, Math.max(equals, 0)).trim().replace(/^\$/, '').toLowerCase();
    if (equals < 0 || !nestable.has(key)) {
      throw invalidQuery('$expand', `"${text.trim().slice(0, 40)}" is not an option of ${name}`);
    }
    if (Object.hasOwn(sent, `$${key}`)) throw invalidQuery('$expand', `${name} has $${key} twice`);
    sent[`$${key}`] = text.slice(equals + 1);
  }
  return sent;
}

/** Splits a text at separators that are outside of brackets and quotes. */
function splitOutside(text: string, separator: ',' | ';', option: string): { text: string; at: number }[] {
  const found: { text: string; at: number }[] = [];
  let depth = 0;
  let from = 0;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]!;
    if (quote !== '') {
      if (sign === quote) quote = '';
    } else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === separator && depth === 0) {
      found.push({ text: text.slice(from, at), at: from });
      from = at + 1;
    }
    if (depth < 0) break;
  }
  if (depth !== 0 || quote !== '') throw invalidQuery(option, 'brackets or quotes do not match', text.length);
  found.push({ text: text.slice(from), at: from });
  const empty = found.find((part) => part.text.trim() === '');
  if (empty) throw invalidQuery(option, 'has an empty item', empty.at);
  return found;
}

const MAX_TERMS = 20;
const MAX_DEPTH = 20;

/** Splits a text into words of letters and digits. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/**
 * Parses a `$search` expression: words and quoted phrases, joined by AND, OR, NOT and brackets; AND is the default.
 * @throws EstateError with the position of the syntax error.
 */
function parseSearch(text: string): Search {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+|"/g)].map((found) => ({
    text: found[0],
    at: found.index,
  }));
  let place = 0;
  let terms = 0;
  const fail = (wanted: string) =>
    invalidQuery('$search', `${wanted} was expected`, tokens[place]?.at ?? text.length);

  function either(depth: number): Search {
    if (depth > MAX_DEPTH) throw invalidQuery('$search', 'is nested too deeply', tokens[place]?.at);
    let left = both(depth);
    while (tokens[place]?.text === 'OR') {
      place += 1;
      left = { kind: 'or', left, right: both(depth) };
    }
    return left;
  }

  function both(depth: number): Search {
    let left = one(depth);
    for (;;) {
      const token = tokens[place]?.text;
      if (token === undefined || token === ')' || token === 'OR') return left;
      if (token === 'AND') place += 1;
      left = { kind: 'and', left, right: one(depth) };
    }
  }

  function one(depth: number): Search {
    const token = tokens[place];
    if (!token || [')', 'AND', 'OR', '"'].includes(token.text)) throw fail('a word');
    place += 1;
    if (token.text === 'NOT') {
      if (depth > MAX_DEPTH) throw invalidQuery('$search', 'is nested too deeply', token.at);
      return { kind: 'not', operand: one(depth + 1) };
    }
    if (token.text === '(') {
      const inner = either(depth + 1);
      if (tokens[place]?.text !== ')') throw fail('")"');
      place += 1;
      return inner;
    }
    terms += 1;
    if (terms > MAX_TERMS) throw invalidQuery('$search', `takes at most ${MAX_TERMS} terms`, token.at);
    const words = wordsOf(token.text);
    if (words.length === 0)
      throw invalidQuery('$search', 'a term without a letter or digit finds nothing', token.at);
    return { kind: 'words', words, phrase: token.text.startsWith('"') };
  }

  const whole = either(0);
  if (place < tokens.length) throw fail('the end');
  return whole;
}
