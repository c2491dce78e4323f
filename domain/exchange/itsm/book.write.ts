import type { Sql } from '../../../platform/database.ts';
import type { BookWrites, StoredLink } from './book.types.ts';

/**
 * Writes changes of a mapping's book, one statement a kind, in the transaction that does what they tell of. The book must
 * be locked. Doing it twice has the outcome of once.
 */
export async function writeBook(sql: Sql, mappingId: string, writes: BookWrites): Promise<void> {
  const { pairs, drops, amendments, links, unlinks, again, watermark } = writes;
  if (drops.length > 0) {
    await sql.raw('delete from itsm_pairs where mapping_id = ? and remote_id = any(?::text[])', [
      mappingId,
      drops,
    ] as never);
  }
  if (pairs.length > 0) {
    await sql.raw(
      `insert into itsm_pairs (mapping_id, remote_id, card_id, origin, state, gone, evidence, since, base, absences)
       select ?::uuid, v.* from json_to_recordset(?::json) as v(remote_id text, card_id uuid, origin text, state text,
         gone text, evidence text, since timestamptz, base jsonb, absences integer)
       on conflict (mapping_id, remote_id) do update set card_id = excluded.card_id, origin = excluded.origin,
         state = excluded.state, gone = excluded.gone, evidence = excluded.evidence, since = excluded.since,
         base = excluded.base, absences = excluded.absences`,
      [mappingId, JSON.stringify(pairs)],
    );
  }
  if (amendments.length > 0) await amend(sql, mappingId, amendments);
  if (unlinks.length > 0) await unlink(sql, mappingId, unlinks);
  if (links.length > 0) {
    await sql.raw(
      `insert into itsm_links (mapping_id, relation_type, source, target, remote_relation_id)
       select ?::uuid, v.* from json_to_recordset(?::json)
         as v(relation_type text, source text, target text, remote_relation_id text)
       on conflict (mapping_id, relation_type, source, target) do update
         set remote_relation_id = coalesce(excluded.remote_relation_id, itsm_links.remote_relation_id)`,
      [mappingId, JSON.stringify(links)],
    );
  }
  if (again === undefined && watermark === undefined) return;
  await sql.raw(
    `update itsm_books set again = case when ? then ?::text[] else again end,
       watermark = case when ? then ?::timestamptz else watermark end
     where mapping_id = ?`,
    [again !== undefined, again ?? [], watermark !== undefined, watermark ?? null, mappingId] as never,
  );
}

async function amend(sql: Sql, mappingId: string, amendments: BookWrites['amendments']): Promise<void> {
  const rows = amendments.map(({ state, ...rest }) => ({ ...rest, ...state }));
  await sql.raw(
    `update itsm_pairs p set
       base = (p.base || v.base) - array(select jsonb_array_elements_text(v.forgets)),
       absences = coalesce(v.absences, p.absences),
       state = coalesce(v.state, p.state),
       gone = case when v.state is null then p.gone else v.gone end,
       evidence = case when v.state is null then p.evidence else v.evidence end,
       since = case when v.state is null then p.since else v.since end
     from json_to_recordset(?::json) as v(remote_id text, base jsonb, forgets jsonb, absences integer, state text,
       gone text, evidence text, since timestamptz)
     where p.mapping_id = ? and p.remote_id = v.remote_id`,
    [JSON.stringify(rows), mappingId],
  );
}

async function unlink(sql: Sql, mappingId: string, links: StoredLink[]): Promise<void> {
  await sql.raw(
    `delete from itsm_links l using json_to_recordset(?::json) as v(relation_type text, source text, target text)
     where l.mapping_id = ? and l.relation_type = v.relation_type and l.source = v.source and l.target = v.target`,
    [JSON.stringify(links), mappingId],
  );
}
