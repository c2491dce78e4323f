import { call } from './calls.ts';

/** A page of a list that is read by cursor. */
interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

/**
 * Reads all items of a list, page by page.
 * @param read requests the page of a cursor; the empty one is the first.
 * @example for await (const card of items((cursor) => listCards({ query: { cursor, type: 'Application' } }))) { … }
 */
export async function* items<T>(
  read: (cursor: string) => Parameters<typeof call<Page<T>>>[0],
): AsyncGenerator<T, void, undefined> {
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined; ) {
    const page: Page<T> = await call(read(cursor));
    yield* page.items;
    cursor = page.next_cursor;
  }
}
