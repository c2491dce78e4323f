/** Numbers the `?` of a statement as `$1`, `$2`, ... for use without the query builder. Texts hold no `?`. */
export function numbered(sql: string): string {
  let n = 0;
  return sql.replaceAll('?', () => {
    n += 1;
    return `$${n}`;
  });
}
