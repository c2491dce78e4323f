/** Numbers the `?` of a statement as `$1`, `$2`, ... for use without the query builder. Texts hold no `?`. */
export function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll('?', () => {
    n += 1;
    return `$${n}`;
  });
}

/**
 * SQL of the JSON text of a time in RFC 3339 with milliseconds, as `utc()` gives it, in half the time: the microsecond
 * makes PostgreSQL write a fraction of a second always.
 */
export function jsonTimestamp(column: string): string {
  const time = `date_trunc('milliseconds', ${column} at time zone 'UTC') + interval '1 microsecond'`;
  return `(left(to_json(${time})::text, 24) || 'Z"')`;
}
