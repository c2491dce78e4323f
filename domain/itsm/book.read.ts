import type { Sql } from '../../platform/database.ts';
import type { StoredBook, StoredLink, StoredPair } from './book.types.ts';

const bookColumns = `utc(watermark) as watermark, utc(links_watermark) as links_watermark,
  local_position::text as local_position, again, utc(complete_read_at) as complete_read_at`;
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
    }
  );
}

/**
 * Keeps everybody else from writing in the book until the transaction ends. To be taken before cards are locked.
 * @returns what it remembers beside its pairs.
 */
export async function lockBook(sql: Sql, mappingId: string): Promise<StoredBook> {
  await sql.raw('insert into itsm_books (mapping_id) values (?) on conflict do nothing', [mappingId]);
  const { rows } = await sql.raw(
    `select ${bookColumns} from itsm_books where mapping_id = ? for no key update`,
    [mappingId],
  );
  return rows[0];
}

/** Which pairs are wanted: those of records, and those of cards. */
export interface PairChoice {
  remoteIds?: readonly string[];
  cardIds?: readonly string[];
}

// the cards asked about, those that they were merged into, and all that were merged into these
const family = `with recursive seed as (
    select card_id as id from itsm_pairs where mapping_id = ? and remote_id = any(?::text[])
    union select unnest(?::uuid[])
  ), led as (
    select id from seed
    union select r.survivor_id from led join card_redirects r on r.card_id = led.id
  ), whole as (
    select id from led
    union select r.card_id from whole join card_redirects r on r.survivor_id = whole.id
  )`;

/**
 * The pairs of records and of cards, with all other pairs of these cards: those of cards that were merged into them, or
 * that they were merged into, count as theirs.
 */
export async function readPairs(
  sql: Sql,
  mappingId: string,
  { remoteIds = [], cardIds = [] }: PairChoice,
): Promise<StoredPair[]> {
  if (remoteIds.length + cardIds.length === 0) return [];
  const { rows } = await sql.raw(
    // by two indexes, since one condition with "or" would read all pairs
    `${family}, wanted as (
       select unnest(?::text[]) as remote_id
       union select o.remote_id from whole
         cross join lateral (select remote_id from itsm_pairs where card_id = whole.id and mapping_id = ? offset 0) o
     )
     select ${pairColumns} from wanted
     cross join lateral (select * from itsm_pairs where mapping_id = ? and remote_id = wanted.remote_id offset 0) p
     order by p.remote_id`,
    [mappingId, remoteIds, cardIds, remoteIds, mappingId, mappingId] as never,
  );
  return rows;
}

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
  const { rows } = choice
    ? await sql.raw(
        `${family} select r.card_id, r.survivor_id from card_redirects r where r.card_id in (select id from whole)`,
        [mappingId, choice.remoteIds ?? [], choice.cardIds ?? []] as never,
      )
    : await sql.raw(
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
