import { invalidQuery, notOffered } from '../odata.errors.ts';
import { type Aliases, parseFilter, parseOrderBy } from './query.expressions.ts';
import type { ExpandItem, NestedOptions, Search } from './query.types.ts';

/** How deep `$expand` may be nested, and how much it may name in all. */
const DEEPEST_EXPAND = 3;
const MOST_EXPANDS = 20;
const LARGEST = 1_000_000_000;

/** The options of a query by name with `$`, and those who stand for values. */
export type SentOptions = Readonly<Record<string, string | undefined>>;

/** A whole number that is not negative. @throws EstateError naming the option. */
function wholeNumber(text: string, option: string): number {
  const trimmed = text.trim();
  if (!/^\d{1,10}$/.test(trimmed) || Number(trimmed) > LARGEST) {
    throw invalidQuery(option, `"${trimmed.slice(0, 20)}" is no whole number from 0 to ${LARGEST}`);
  }
  return Number(trimmed);
}

function truth(text: string, option: string): boolean {
  const lower = text.trim().toLowerCase();
  if (lower !== 'true' && lower !== 'false') throw invalidQuery(option, 'is either true or false');
  return lower === 'true';
}

const kept = ['$filter', '$orderby', '$select', '$expand', '$search'] as const;

/** Reads what is asked of a set, or of related entities. @throws EstateError for what cannot be read. */
export function readOptions(
  sent: SentOptions,
  aliases: Aliases,
  spent: { expands: number; depth: number } = { expands: 0, depth: 0 },
): NestedOptions {
  for (const option of ['$compute', '$apply', '$levels', '$index', '$schemaversion'] as const) {
    if (sent[option] !== undefined) throw notOffered(option, 'is not offered');
  }
  return {
    select: sent.$select === undefined ? undefined : readSelect(sent.$select),
    expand: sent.$expand === undefined ? [] : readExpand(sent.$expand, aliases, spent),
    filter: sent.$filter === undefined ? undefined : parseFilter(sent.$filter, '$filter', aliases),
    orderby: sent.$orderby === undefined ? [] : parseOrderBy(sent.$orderby, '$orderby', aliases),
    top: sent.$top === undefined ? undefined : wholeNumber(sent.$top, '$top'),
    skip: sent.$skip === undefined ? 0 : wholeNumber(sent.$skip, '$skip'),
    count: sent.$count !== undefined && truth(sent.$count, '$count'),
    search: sent.$search === undefined ? undefined : parseSearch(sent.$search),
    sent: Object.fromEntries(
      kept.flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]] as const])),
    ),
  };
}

function readSelect(text: string): string[] | undefined {
  const names = parts(text, ',', '$select').map(({ text: part }) => part.trim());
  for (const name of names) {
    if (name === '*') continue;
    if (/[(/.]/.test(name)) throw notOffered('$select', `"${name}": only names of properties are offered`);
    if (!/^[A-Za-z_]\w*$/.test(name)) throw invalidQuery('$select', `"${name}" is no name of a property`);
  }
  return names.includes('*') ? undefined : [...new Set(names)];
}

function readExpand(text: string, aliases: Aliases, spent: { expands: number; depth: number }): ExpandItem[] {
  if (spent.depth >= DEEPEST_EXPAND) {
    throw invalidQuery('$expand', `goes at most ${DEEPEST_EXPAND} levels deep`);
  }
  const items: ExpandItem[] = [];
  for (const { text: part } of parts(text, ',', '$expand')) {
    const found = /^\s*(\*|[A-Za-z_]\w*)(\/\$(?:ref|count))?\s*(?:\((.*)\))?\s*$/is.exec(part);
    if (!found) {
      if (/^\s*[\w.]+\//.test(part))
        throw notOffered('$expand', `"${part.trim()}": nest $expand instead of a path`);
      throw invalidQuery('$expand', `"${part.trim().slice(0, 40)}" cannot be read`);
    }
    const [, name, suffix, inner] = found;
    if (name === '*') throw notOffered('$expand', '* is not offered: name what is to be expanded');
    if (suffix?.toLowerCase() === '/$count')
      throw notOffered('$expand', `/$count is not offered: use ${name}($count=true;$top=0)`);
    spent.expands += 1;
    if (spent.expands > MOST_EXPANDS) throw invalidQuery('$expand', `names more than ${MOST_EXPANDS} in all`);
    if (items.some((item) => item.name === name)) throw invalidQuery('$expand', `names ${name} twice`);
    spent.depth += 1;
    const options = readOptions(nestedOptions(inner, name!), aliases, spent);
    spent.depth -= 1;
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
  for (const { text } of parts(inner, ';', '$expand')) {
    const equals = text.indexOf('=');
    const key = text.slice(0, Math.max(equals, 0)).trim().replace(/^\$/, '').toLowerCase();
    if (equals < 0 || !nestable.has(key)) {
      throw invalidQuery('$expand', `"${text.trim().slice(0, 40)}" is no option of ${name}`);
    }
    if (Object.hasOwn(sent, `$${key}`)) throw invalidQuery('$expand', `${name} is given $${key} twice`);
    sent[`$${key}`] = text.slice(equals + 1);
  }
  return sent;
}

/** The parts of a text between separators that stand outside of brackets and quotes. */
function parts(text: string, separator: ',' | ';', option: string): { text: string; at: number }[] {
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
  if (empty) throw invalidQuery(option, 'holds an empty part', empty.at);
  return found;
}

const MOST_TERMS = 20;
const DEEPEST = 20;

/** The words of a text between all that is neither letter nor digit. */
const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];

/**
 * Reads a `$search` expression: words and quoted phrases, joined by AND, OR, NOT and brackets; side by side is AND.
 * @throws EstateError that says where the text cannot be read.
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
    if (depth > DEEPEST) throw invalidQuery('$search', 'is nested too deeply', tokens[place]?.at);
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
      if (depth > DEEPEST) throw invalidQuery('$search', 'is nested too deeply', token.at);
      return { kind: 'not', operand: one(depth + 1) };
    }
    if (token.text === '(') {
      const inner = either(depth + 1);
      if (tokens[place]?.text !== ')') throw fail('")"');
      place += 1;
      return inner;
    }
    terms += 1;
    if (terms > MOST_TERMS) throw invalidQuery('$search', `takes at most ${MOST_TERMS} terms`, token.at);
    const words = wordsOf(token.text);
    if (words.length === 0)
      throw invalidQuery('$search', 'a term without a letter or digit finds nothing', token.at);
    return { kind: 'words', words, phrase: token.text.startsWith('"') };
  }

  const whole = either(0);
  if (place < tokens.length) throw fail('the end');
  return whole;
}
