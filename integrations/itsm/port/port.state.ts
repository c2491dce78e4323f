import type { Sql } from '../../../platform/database.ts';
import type { Book, BookChange, LocalCard, Pair } from '../engine/model.types.ts';
import type { LocalState, PlanRow } from '../engine/plan.types.ts';
import { boundPairs, emptyBook, type Identities, identities, otherPair, writeBook } from '../engine/state.ts';
import { loadPairs } from './book.rows.ts';
import type { CardReader } from './local.cards.ts';

/** The book and the cards around some rows, within a transaction that holds the book. */
export interface PortState {
  of(row: PlanRow): LocalState;
  /** Takes along what a row has changed. */
  change(changes: readonly BookChange[]): void;
  /** Reads cards again after they were written. */
  reread(ids: readonly string[]): Promise<void>;
  card(id: string): LocalCard | undefined;
  /** The card of a record, as far as the rows have made it. */
  cardOf(remoteId: string): string | undefined;
}

/** Reads what the rows are about, in a fixed number of statements. */
export async function readState(
  sql: Sql,
  mappingId: string,
  cards: CardReader,
  rows: readonly PlanRow[],
): Promise<PortState> {
  const remoteIds = rows.flatMap(({ remoteId, drops }) => (remoteId === null ? drops : [remoteId, ...drops]));
  const cardIds = rows.flatMap(({ cardId }) => cardId ?? []);
  const { pairs, redirects } = await loadPairs(sql, mappingId, { remoteIds, cardIds });
  const book: Book = { ...emptyBook(), pairs };
  const known = await cards.byIds(sql, cardIds);
  let speakers: Identities | undefined;
  let bound: ReadonlyMap<string, Pair[]> | undefined;
  return {
    of(row) {
      const { cardId, remoteId } = row;
      const pair = remoteId === null ? undefined : book.pairs.get(remoteId);
      if (cardId === null) return { card: null, pair, other: undefined };
      bound ??= boundPairs(book, redirects);
      const other = otherPair(bound, redirects, { ...row, cardId });
      return { card: known.get(cardId) ?? null, pair, other };
    },
    change(changes) {
      if (changes.length === 0) return;
      writeBook(book, changes);
      speakers = undefined;
      bound = undefined;
    },
    async reread(ids) {
      for (const id of ids) known.delete(id);
      for (const [id, card] of await cards.byIds(sql, ids)) known.set(id, card);
    },
    card: (id) => known.get(id),
    cardOf: (remoteId) => {
      speakers ??= identities(book, redirects);
      return speakers.cardOf(remoteId);
    },
  };
}
