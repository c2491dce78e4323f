import type { Sql } from '../../../platform/database.ts';
import type { StoredBook, StoredLink, StoredPair } from './book.types.ts';

const bookColumns = `utc(watermark) as watermark, utc(links_watermark) as links_watermark,
  local_position::text as local_position, again, utc(complete_read_at) as complete_read_at,
  utc(pulled_read_at) as pulled_read_at, utc(pushed_read_at) as pushed_read_at,
  pulled_position::text as pulled_position, utc(pushed_watermark) as pushed_watermark`;
const pairColumns = `p.remote_id, p.card_id, p.origin, p.state, p.gone, p.evidence, utc(p.since) as since, p.base,
  p.absences`;

/** What the mapping remembers beside its pairs; nothing where it has never run. */
export async function readBook(sql: Sql, mappingId: string): Promise<StoredBook> {
  const { rows } = await sql.raw(`select ${bookColumns} from itsm_books where mapping_id = ?`, [mappingId]);
  return (
    rows[0] ?? {
      watermark: null,
      links_watermark: null,
      local_position: null,
      again: [],
      complete_read_at: null,
      pulled_read_at: null,
      pushed_read_at: null,
      pulled_position: null,
      pushed_watermark: null,
    }
  );
}

/**
 * Keeps everybody else from writing in the book until the transaction ends. To be taken before cards are locked.
 * @param how `shared`: others that write about other pairs alone may do so beside it.
 * @returns what it remembers beside its pairs.
 */
export async function lockBook(sql: Sql, mappingId: string, how?: 'shared'): Promise<StoredBook> {
  await sql.raw('insert into itsm_books (mapping_id) values (?) on conflict do nothing', [mappingId]);
  const { rows } = await sql.raw(
    `select ${bookColumns} from itsm_books where mapping_id = ? for ${how === 'shared' ? 'share' : 'no key update'}`,
    [mappingId],
  );
  return rows[0];
}

/** Which pairs are wanted: those of records, and those of cards. */
export interface PairChoice {
  remoteIds?: readonly string[];
  cardIds?: readonly string[];
}

/** Pairs with the merges of cards that concern them: from the card that went to the one that stayed. */
export interface PairFamily {
  pairs: StoredPair[];
  redirects: Map<string, string>;
}

/**
 * The pairs of records and of cards, with all other pairs of these cards: those of cards that were merged into them, or
 * that they were merged into, count as theirs. In the order of their records.
 */
export async function readPairFamily(
  sql: Sql,
  mappingId: string,
  { remoteIds = [], cardIds = [] }: PairChoice,
): Promise<PairFamily> {
  const pairs = new Map<string, StoredPair>();
  const take = async (condition: string, ids: readonly string[]) => {
    if (ids.length === 0) return;
    const { rows } = await sql.raw(
      `select ${pairColumns} from itsm_pairs p where p.mapping_id = ? and ${condition}`,
      [mappingId, ids] as never,
    );
    for (const row of rows as StoredPair[]) pairs.set(row.remote_id, row);
  };
  // one condition at a time: both with "or" between would read all pairs
  await take('p.remote_id = any(?::text[])', remoteIds);
  const own = new Set([...cardIds, ...[...pairs.values()].map(({ card_id }) => card_id)]);
  const { cards, redirects } = await mergedWith(sql, own);
  await take('p.card_id = any(?::uuid[])', [...cards]);
  const ordered = [...pairs.values()].sort((left, right) => (left.remote_id < right.remote_id ? -1 : 1));
  return { pairs: ordered, redirects };
}

/** The cards with all that they were merged into, or that were merged into them, however often. */
async function mergedWith(
  sql: Sql,
  own: ReadonlySet<string>,
): Promise<{ cards: Set<string>; redirects: Map<string, string> }> {
  const cards = new Set(own);
  const redirects = new Map<string, string>();
  for (let fresh = [...own]; fresh.length > 0; ) {
    const { rows } = await sql.raw(
      `select card_id, survivor_id from card_redirects
       where card_id = any(?::uuid[]) or survivor_id = any(?::uuid[])`,
      [fresh, fresh] as never,
    );
    fresh = [];
    for (const { card_id, survivor_id } of rows as { card_id: string; survivor_id: string }[]) {
      redirects.set(card_id, survivor_id);
      for (const id of [card_id, survivor_id]) {
        if (!cards.has(id)) fresh.push(id);
        cards.add(id);
      }
    }
  }
  return { cards, redirects };
}

/** The pairs of {@link readPairFamily} alone. */
export const readPairs = async (sql: Sql, mappingId: string, choice: PairChoice): Promise<StoredPair[]> =>
  (await readPairFamily(sql, mappingId, choice)).pairs;

/** All pairs in the order of their records, from behind the given one on. */
export async function walkPairs(
  sql: Sql,
  mappingId: string,
  after: string,
  limit: number,
): Promise<StoredPair[]> {
  const { rows } = await sql.raw(
    `select ${pairColumns} from itsm_pairs p where p.mapping_id = ? and p.remote_id > ?
     order by p.remote_id limit ?`,
    [mappingId, after, limit],
  );
  return rows;
}

/** Merged cards among those of the pairs and around the given cards: from the one that went to the one that stayed. */
export async function readRedirects(
  sql: Sql,
  mappingId: string,
  choice?: PairChoice,
): Promise<Map<string, string>> {
  if (choice) return (await readPairFamily(sql, mappingId, choice)).redirects;
  const { rows } = await sql.raw(
    `with recursive led as (
       select r.card_id, r.survivor_id from card_redirects r
       where r.card_id in (select card_id from itsm_pairs where mapping_id = ?)
       union select r.card_id, r.survivor_id from led join card_redirects r on r.card_id = led.survivor_id
     ) select card_id, survivor_id from led`,
    [mappingId],
  );
  return new Map(rows.map((row: { card_id: string; survivor_id: string }) => [row.card_id, row.survivor_id]));
}

/** Agreed relations with one of the records at either end; all of them where none are named. */
export async function readLinks(
  sql: Sql,
  mappingId: string,
  remoteIds?: readonly string[],
): Promise<StoredLink[]> {
  const { rows } = await sql.raw(
    `select relation_type, source, target, remote_relation_id from itsm_links
     where mapping_id = ? ${remoteIds ? 'and (source = any(?::text[]) or target = any(?::text[]))' : ''}
     order by relation_type, source, target`,
    (remoteIds ? [mappingId, remoteIds, remoteIds] : [mappingId]) as never,
  );
  return rows;
}
