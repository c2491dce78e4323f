/** Numbers the `?` of a statement as `$1`, `$2`, ... for use without the query builder. Texts hold no `?`. */
export function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll('?', () => {
    n += 1;
    return `$${n}`;
  });
}

/**
 * SQL of a time in RFC 3339 with milliseconds, as `utc()` gives it, in half the time: the microsecond makes PostgreSQL
 * write a fraction of a second always.
 */
export function timestamp(column: string): string {
  const text = `(date_trunc('milliseconds', ${column} at time zone 'UTC') + interval '1 microsecond')::text`;
  return `(replace(left(${text}, 23), ' ', 'T') || 'Z')`;
}
