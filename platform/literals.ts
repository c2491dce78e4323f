/** An element of an array as PostgreSQL reads it between braces. */
const element = (value: unknown): string =>
  value === null ? 'NULL' : `"${text(value).replace(/["\\]/g, '\\$&')}"`;

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`;
  throw new TypeError(`a ${typeof value} cannot stand in a statement`);
}

/**
 * A text in quotes, by the rules of libpq's `PQescapeLiteral`. The driver's function makes an object per character, which are
 * tens of megabytes for the ids of a page.
 */
function quoted(value: string): string {
  const doubled = `'${value.replace(/['\\]/g, '$&$&')}'`;
  return value.includes('\\') ? ` E${doubled}` : doubled;
}

/** A value as it is in a statement; its type is found as that of a parameter is, from where it stands. */
export function literal(value: unknown): string {
  return value === null || value === undefined ? 'null' : quoted(text(value));
}

/**
 * A statement with its values in the places of `?`, for the few that take no parameters. Texts in it hold no `?`.
 * @throws TypeError when places and values are not as many, or a value is no text, number, boolean, date or array.
 */
export function withLiterals(sql: string, values: readonly unknown[]): string {
  let n = 0;
  const whole = sql.replaceAll('?', () => {
    n += 1;
    return n <= values.length ? literal(values[n - 1]) : '';
  });
  if (n !== values.length) throw new TypeError(`${n} places for ${values.length} values`);
  return whole;
}
