import type { RemoteLook } from './connector.ts';

/** Slices of a list, each of at most `size` elements. */
export const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** Order by time, then by id. */
export const byTime = (a: { at: string; id: string }, b: { at: string; id: string }): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1;

export const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** The record of a look that found it. */
export const foundBy = (look: RemoteLook | undefined) => (look?.kind === 'there' ? look.record : undefined);

/** All pages of a paged read. @param read the page at a cursor, null for the first. */
export async function* pagesOf<P extends { next: C | null }, C = string>(
  read: (cursor: C | null) => Promise<P>,
): AsyncGenerator<P> {
  let cursor: C | null = null;
  do {
    const page: P = await read(cursor);
    yield page;
    cursor = page.next;
  } while (cursor !== null);
}

/** `filter: …` if there is one, for requests whose filter is optional. */
export const filterBy = (filter: string | null | undefined): { filter?: string } =>
  filter === undefined || filter === null ? {} : { filter };

/** A page of several lists that are read one after the other. @param read a page of one of them. */
export async function pageOfLists<L, P extends { next: string | null }>(
  lists: readonly L[],
  cursor: string | null,
  read: (list: L, cursor: string | null) => Promise<P>,
): Promise<P> {
  interface Place {
    index: number;
    within: string | null;
  }
  const { index, within }: Place = cursor === null ? { index: 0, within: null } : JSON.parse(cursor);
  const page = await read(lists[index]!, within);
  const place: Place = page.next === null ? { index: index + 1, within: null } : { index, within: page.next };
  return { ...page, next: place.index < lists.length ? JSON.stringify(place) : null };
}
