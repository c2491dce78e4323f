import { type Compare, type Filter, parse } from 'scim2-parse-filter';
import { embed, fragment } from '../../../platform/database.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { scimError } from './scim.errors.ts';

/** An attribute that can be filtered by: `text` is case-insensitive, `exact` is not. */
interface FilterColumn {
  sql: string;
  type: 'text' | 'exact' | 'boolean' | 'time';
}

/** A multi-valued attribute, stored in a separate table. */
interface FilterRows {
  /** The SQL between `exists (select` and `)`, without the condition on the row. */
  rows: string;
  /** The sub-attributes by their names in lower case; `value` is used by comparisons without a sub-attribute. */
  columns: Record<string, FilterColumn>;
}

/** The attributes that can be filtered by, by paths in lower case such as `name.givenname`. */
export interface FilterSpec {
  /** The URN that may precede a path. */
  schema: string;
  columns: Record<string, FilterColumn>;
  multiple: Record<string, FilterRows>;
}

const MAX_FILTER = 2_000;
const MAX_DEPTH = 50;

/**
 * A filter as a condition on the rows (RFC 7644, 3.4.2.2); every value is bound.
 * @throws EstateError `scim_invalid_filter`.
 */
export function compileFilter(text: string, spec: FilterSpec): Condition {
  return compile(parsedFilter(text), spec, '', 0);
}

/** The parsed filter. @throws EstateError `scim_invalid_filter`. */
export function parsedFilter(text: string): Filter {
  // Control characters never occur in filters, and the parser is slow on them.
  const readable = text.length <= MAX_FILTER && !/\p{Cc}/u.test(text) && depthOf(text) <= MAX_DEPTH;
  if (!readable)
    throw scimError('invalidFilter', 'The filter is too long, too deep or contains control characters.');
  try {
    return parse(text);
  } catch {
    throw scimError('invalidFilter', 'The filter cannot be read.');
  }
}

/** The nesting of brackets and negations; brackets in quoted texts also count, which is harmless. */
const depthOf = (text: string): number => text.match(/[([]|\bnot\b/gi)?.length ?? 0;

function compile(filter: Filter, spec: FilterSpec, inside: string, depth: number): Condition {
  if (filter.op === 'and' || filter.op === 'or') {
    const parts = (filter as { filters: Filter[] }).filters.map((part) => compile(part, spec, inside, depth));
    const sql = `(${parts.map(({ sql }) => sql).join(` ${filter.op} `)})`;
    return { sql, bindings: parts.flatMap(({ bindings }) => bindings) };
  }
  if (filter.op === 'not') {
    const part = compile((filter as { filter: Filter }).filter, spec, inside, depth);
    return fragment`not coalesce(${embed(part)}, false)`;
  }
  const named = filter as { op: string; attrPath: string };
  const path = `${inside}${plainPath(named.attrPath, spec)}`;
  if (filter.op === '[]') {
    if (inside !== '') throw scimError('invalidFilter', 'A value filter cannot contain another one.');
    const { valFilter } = filter as { valFilter: Filter };
    const rows = own(spec.multiple, path);
    if (!rows) return compile(valFilter, spec, `${path}.`, depth + 1);
    const within: FilterSpec = { schema: spec.schema, columns: rows.columns, multiple: {} };
    const part = compile(valFilter, within, '', depth + 1);
    return fragment`exists (select ${embed(rows.rows)} and ${embed(part)})`;
  }
  const column = own(spec.columns, path);
  if (column) return comparison(filter as Compare, column);
  const [name = '', member = 'value'] = path.split('.');
  const rows = own(spec.multiple, name);
  const inner = rows && own(rows.columns, member);
  if (!rows || !inner) throw scimError('invalidFilter', `Nothing can be filtered by ${named.attrPath}.`);
  if (filter.op === 'pr') return fragment`exists (select ${embed(rows.rows)})`;
  return fragment`exists (select ${embed(rows.rows)} and ${embed(comparison(filter as Compare, inner))})`;
}

/** The own property of an object, under a name from a client. */
const own = <T>(record: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** A path in lower case and without the URN of the schema. */
export function plainPath(path: string, { schema }: Pick<FilterSpec, 'schema'>): string {
  const lower = path.toLowerCase();
  const prefix = `${schema.toLowerCase()}:`;
  return lower.startsWith(prefix) ? lower.slice(prefix.length) : lower;
}

const signs = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const;

function comparison({ op, attrPath, compValue }: Compare, { sql, type }: FilterColumn): Condition {
  if ((op as string) === 'pr') return fragment`${embed(sql)} is not null`;
  if (compValue === null) {
    if (op === 'eq') return fragment`${embed(sql)} is null`;
    if (op === 'ne') return fragment`${embed(sql)} is not null`;
  }
  const misfit = () => scimError('invalidFilter', `${attrPath} cannot be compared in this way.`);
  if (type === 'boolean') {
    // Microsoft Entra ID writes booleans as texts
    const value = typeof compValue === 'string' ? compValue.toLowerCase() : String(compValue);
    if ((op !== 'eq' && op !== 'ne') || (value !== 'true' && value !== 'false')) throw misfit();
    return fragment`${embed(sql)} ${embed(op === 'eq' ? '=' : '<>')} ${value}::boolean`;
  }
  if (typeof compValue !== 'string') throw misfit();
  if (type === 'time') return timeComparison(op, sql, compValue, misfit);
  const fold = (expression: string) => (type === 'text' ? `lower(${expression})` : expression);
  const left = fold(sql);
  const right = fold('?::text');
  const bindings = [compValue];
  switch (op) {
    case 'eq':
      return { sql: `${left} = ${right}`, bindings };
    case 'ne':
      return { sql: `${left} is distinct from ${right}`, bindings };
    case 'co':
      return { sql: `strpos(${left}, ${right}) > 0`, bindings };
    case 'sw':
      return { sql: `starts_with(${left}, ${right})`, bindings };
    case 'ew':
      return { sql: `right(${left}, length(${right})) = ${right}`, bindings: [compValue, compValue] };
    default:
      return { sql: `${left} ${signs[op]} ${right}`, bindings };
  }
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
// The year in UTC must also have four digits.
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

function timeComparison(op: Compare['op'], sql: string, value: string, misfit: () => Error): Condition {
  const sign = { ...signs, eq: '=', ne: '<>' }[op as keyof typeof signs | 'eq' | 'ne'];
  const time = moment.test(value) ? Date.parse(value) : Number.NaN;
  if (!sign || !(time >= EARLIEST && time < LATEST)) throw misfit();
  // Times are returned and compared in milliseconds.
  return fragment`date_trunc('milliseconds',
    ${embed(sql)}) ${embed(sign)} ${new Date(time).toISOString()}::timestamptz`;
}
