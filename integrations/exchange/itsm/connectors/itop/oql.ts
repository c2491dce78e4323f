/** An OQL text literal. */
export const quote = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export const inList = (field: string, values: readonly (string | number)[]): string =>
  `${field} IN (${values.map((value) => (typeof value === 'number' ? value : quote(value))).join(',')})`;

/** The query for objects of a class that match all conditions; empty conditions are omitted. */
export function selectQuery(className: string, conditions: readonly string[]): string {
  const some = conditions.filter((condition) => condition !== '').map((condition) => `(${condition})`);
  return `SELECT ${className}${some.length > 0 ? ` WHERE ${some.join(' AND ')}` : ''}`;
}

const token =
  /\s+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]+`|[A-Za-z_]\w*|0x[0-9a-fA-F]+|\d+|->|[!<>]=|./gsy;
const words = new Set(
  `AND OR NOT IN LIKE REGEXP MATCHES NULL INTERVAL SECOND MINUTE HOUR DAY MONTH YEAR BELOW ABOVE STRICT
  SELECT FROM AS JOIN ON WHERE UNION`.split(/\s+/),
);

function tokensOf(filter: string): string[] {
  return (filter.match(token) ?? []).filter((part) => part.trim() !== '');
}

/** Why a filter cannot be combined with other conditions, in words; undefined if it can. */
export function findFilterProblem(filter: string): string | undefined {
  let depth = 0;
  for (const part of tokensOf(filter)) {
    if (part === '"' || part === "'" || part === '`') return 'contains an unclosed quote';
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
    if (depth < 0) return 'contains an unopened bracket';
    if (depth === 0 && /^(SELECT|UNION|WHERE)$/i.test(part)) {
      return `must be only a condition, without ${part.toUpperCase()}`;
    }
  }
  return depth > 0 ? 'contains an unclosed bracket' : undefined;
}

/** The attributes that a condition names; names in nested queries are attributes of other classes. */
export function namesInFilter(filter: string): string[] {
  const parts = tokensOf(filter);
  const names = new Set<string>();
  let nested = 0;
  let depth = 0;
  for (const [at, part] of parts.entries()) {
    if (part === '(') depth += 1;
    if (part === ')') {
      depth -= 1;
      if (depth < nested) nested = 0;
    }
    if (/^SELECT$/i.test(part) && nested === 0) nested = depth;
    const name = part.replaceAll('`', '');
    if (nested > 0 || !/^[A-Za-z_]\w*$/.test(name) || words.has(name.toUpperCase())) continue;
    // functions, parameters of the query, and aliases before a dot
    if (['(', '.'].includes(parts[at + 1] ?? '') || [':', '->'].includes(parts[at - 1] ?? '')) continue;
    names.add(name);
  }
  return [...names];
}
