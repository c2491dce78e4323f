import {
  type PairChoice,
  readBook,
  readLinks,
  readPairFamily,
  readRedirects,
  walkPairs,
} from '../../../domain/exchange/itsm/book.read.ts';
import type {
  BookWrites,
  PairAmendment,
  StoredLink,
  StoredPair,
  StoredPairState,
} from '../../../domain/exchange/itsm/book.types.ts';
import { writeBook } from '../../../domain/exchange/itsm/book.write.ts';
import type { Sql } from '../../../platform/database.ts';
import type { AgreedLink, Book, BookChange, Pair, PairState } from '../engine/model.types.ts';
import { linkKey } from '../engine/state.ts';

/** How many pairs are read at once where all of them are. */
const CHUNK = 5_000;

/** A book, or a part of it, with the merges of cards that concern it. */
export interface LoadedBook {
  book: Book;
  redirects: Map<string, string>;
}

/** The whole book of a mapping; for large ones rather {@link loadBookPart}. */
export async function loadBook(sql: Sql, mappingId: string): Promise<LoadedBook> {
  const pairs = new Map<string, Pair>();
  for await (const chunk of eachPairs(sql, mappingId))
    for (const pair of chunk) pairs.set(pair.remoteId, pair);
  return {
    book: await withPairs(sql, mappingId, pairs, await readLinks(sql, mappingId)),
    redirects: await readRedirects(sql, mappingId),
  };
}

/**
 * The part of a book that tells about these records and cards: their pairs, and all others of the cards that these are
 * today. Relations are those with one of these records at an end.
 */
export async function loadBookPart(sql: Sql, mappingId: string, choice: PairChoice): Promise<LoadedBook> {
  const { pairs, redirects } = await loadPairs(sql, mappingId, choice);
  const links = await readLinks(sql, mappingId, [...new Set([...pairs.keys(), ...(choice.remoteIds ?? [])])]);
  return { book: await withPairs(sql, mappingId, pairs, links), redirects };
}

/** The same without relations, and whatever else the book remembers. */
export async function loadPairs(
  sql: Sql,
  mappingId: string,
  choice: PairChoice,
): Promise<{ pairs: Map<string, Pair>; redirects: Map<string, string> }> {
  const { pairs, redirects } = await readPairFamily(sql, mappingId, choice);
  return { pairs: new Map(pairs.map((row) => [row.remote_id, pairOf(row)])), redirects };
}

/** All pairs of a mapping in the order of their records, some thousand at a time. */
async function* eachPairs(sql: Sql, mappingId: string, limit = CHUNK): AsyncGenerator<Pair[]> {
  for (let after = ''; ; ) {
    const rows = await walkPairs(sql, mappingId, after, limit);
    if (rows.length > 0) yield rows.map(pairOf);
    if (rows.length < limit) return;
    after = rows.at(-1)!.remote_id;
  }
}

async function withPairs(
  sql: Sql,
  mappingId: string,
  pairs: Map<string, Pair>,
  links: StoredLink[],
): Promise<Book> {
  const { again, watermark } = await readBook(sql, mappingId);
  const agreed = links.map(linkOf);
  return {
    pairs,
    links: new Map(agreed.map((link) => [linkKey(link), link])),
    again: new Set(again),
    watermark,
  };
}

const linkOf = ({ relation_type, source, target, remote_relation_id }: StoredLink): AgreedLink => ({
  relationType: relation_type,
  source,
  target,
  ...(remote_relation_id === null ? {} : { relationId: remote_relation_id }),
});

const linkRow = ({ relationType, source, target, relationId }: AgreedLink): StoredLink => ({
  relation_type: relationType,
  source,
  target,
  remote_relation_id: relationId ?? null,
});

/** A pair in the engine's terms. */
export function pairOf(row: StoredPair): Pair {
  const { remote_id: remoteId, card_id: cardId, origin, base, absences } = row;
  return { remoteId, cardId, origin, state: stateOf(row), base, absences };
}

function stateOf({ state, gone, evidence, since }: StoredPairState): PairState {
  switch (state) {
    case 'quarantined':
    case 'removed':
      return { kind: state, gone: gone!, evidence: evidence!, since: since! };
    case 'ended':
      return { kind: state, gone: gone! };
    default:
      return { kind: state };
  }
}

function stateRow(state: PairState): StoredPairState {
  return {
    state: state.kind,
    gone: 'gone' in state ? state.gone : null,
    evidence: 'evidence' in state ? state.evidence : null,
    since: 'since' in state ? state.since : null,
  };
}

const pairRow = ({ remoteId, cardId, origin, state, base, absences }: Pair): StoredPair => ({
  remote_id: remoteId,
  card_id: cardId,
  origin,
  ...stateRow(state),
  base,
  absences,
});

/** Writes the changes into the stored book, in their order and in few statements. The book must be locked. */
export async function storeBook(sql: Sql, mappingId: string, changes: readonly BookChange[]): Promise<void> {
  if (changes.length > 0) await writeBook(sql, mappingId, folded(changes));
}

/** What many changes come to in the end: one write for each record and relation. */
function folded(changes: readonly BookChange[]): BookWrites {
  const pairs = new Map<string, StoredPair>();
  const drops = new Set<string>();
  const amendments = new Map<string, PairAmendment>();
  const links = new Map<string, { link: AgreedLink; there: boolean }>();
  const rest: Pick<BookWrites, 'again' | 'watermark'> = {};
  for (const change of changes) {
    if (change.op === 'pair') {
      const { remoteId } = change.pair;
      pairs.set(remoteId, pairRow(change.pair));
      drops.delete(remoteId);
      amendments.delete(remoteId);
    } else if (change.op === 'drop') {
      pairs.delete(change.remoteId);
      amendments.delete(change.remoteId);
      drops.add(change.remoteId);
    } else if (change.op === 'link' || change.op === 'unlink') {
      links.set(linkKey(change.link), { link: change.link, there: change.op === 'link' });
    } else if (change.op === 'again') rest.again = change.remoteIds;
    else if (change.op === 'watermark') rest.watermark = change.watermark;
    else if (!drops.has(change.remoteId)) amend(change, pairs.get(change.remoteId), amendments);
  }
  const told = [...links.values()];
  return {
    pairs: [...pairs.values()],
    drops: [...drops],
    amendments: [...amendments.values()],
    links: told.filter(({ there }) => there).map(({ link }) => linkRow(link)),
    unlinks: told.filter(({ there }) => !there).map(({ link }) => linkRow(link)),
    ...rest,
  };
}

type Amendment = Extract<BookChange, { op: 'base' | 'state' | 'absences' }>;

/** A change of a pair that is made by the same changes goes into it. */
function amend(
  change: Amendment,
  made: StoredPair | undefined,
  amendments: Map<string, PairAmendment>,
): void {
  const { remoteId } = change;
  const amendment = amendments.get(remoteId) ?? {
    remote_id: remoteId,
    base: {},
    forgets: [],
    state: null,
    absences: null,
  };
  if (change.op === 'state') {
    if (made) Object.assign(made, stateRow(change.state));
    amendment.state = stateRow(change.state);
  } else if (change.op === 'absences') {
    if (made) made.absences = change.absences;
    amendment.absences = change.absences;
  } else {
    const base = { ...(made?.base ?? amendment.base) };
    const forgets = new Set(amendment.forgets);
    for (const [path, agreed] of Object.entries(change.base)) {
      if (agreed === null) {
        delete base[path];
        forgets.add(path);
      } else {
        base[path] = agreed;
        forgets.delete(path);
      }
    }
    if (made) made.base = base;
    amendment.base = base;
    amendment.forgets = [...forgets];
  }
  if (!made) amendments.set(remoteId, amendment);
}
