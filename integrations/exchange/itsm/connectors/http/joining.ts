import type { HttpSource } from '../../../../../domain/exchange/itsm/http-sources.input.ts';
import type { Fetch, Fetched } from './fetching.ts';
import { isPaged, optionsOfPage, placeAfter, placeOf } from './paging.ts';
import { keyOf, type Row } from './records.ts';

/** Rows that are requested at once. */
const PAGE = 1_000;

/** Adds the columns of joined sources to the rows that are fetched. A joined source is read once. */
export function withJoins(fetch: Fetch, sources: readonly HttpSource[]): Fetch {
  const known = new Map<string, Promise<Map<string, Row>>>();
  const rowsOf = (name: string): Promise<Map<string, Row>> => {
    const rows = known.get(name) ?? readRows(fetch, sources.find((one) => one.name === name)!);
    known.set(name, rows);
    // it is read again after a failure
    rows.catch(() => known.delete(name));
    return rows;
  };
  return async (source, options) => {
    const fetched = await fetch(source, options);
    const { join } = source;
    if (!join || !fetched || fetched.rows.length === 0) return fetched;
    const others = await rowsOf(join.source);
    const rows = fetched.rows.map(({ key, row }) => {
      const other = others.get(keyOf(row, join.by) ?? '');
      return { key, row: { ...row, [join.as]: other ?? null } };
    });
    return { ...fetched, rows };
  };
}

async function readRows(fetch: Fetch, source: HttpSource): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  let next: string | null = null;
  do {
    const place: ReturnType<typeof placeOf> | null = next === null ? null : placeOf(next);
    const options = isPaged(source) ? optionsOfPage(source.paging, place?.cursor ?? null, undefined) : {};
    const fetched: Fetched = (await fetch(source, { limit: PAGE, ...options }))!;
    for (const { key, row } of fetched.rows) rows.set(key, row);
    next = isPaged(source) ? placeAfter(source, fetched, place) : null;
  } while (next !== null);
  return rows;
}
