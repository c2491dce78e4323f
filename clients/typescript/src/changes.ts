import { call } from './calls.ts';
import { type ReadChangesData, type ReadChangesResponse, readChanges } from './generated/index.ts';

export type Change = ReadChangesResponse['items'][number];

/**
 * Reads the change feed after a position to its present end.
 * @returns the position to continue from next time; store it when all changes are processed.
 */
export async function* changesAfter(
  after: string,
  query: Omit<NonNullable<ReadChangesData['query']>, 'after'> = {},
  signal?: AbortSignal,
): AsyncGenerator<Change, string, undefined> {
  for (let position = after; ; ) {
    const { items, next, has_more } = await call(
      readChanges({ query: { ...query, after: position }, signal }),
    );
    yield* items;
    position = next;
    if (!has_more) return position;
  }
}
