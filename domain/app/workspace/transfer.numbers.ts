import { type Db, query } from '../../../platform/database.ts';

/** Numbers that are so far beyond the last one are not kept: each number in between is claimed too. */
const FARTHEST = 2_000_000;

/**
 * Claims the numbers of new cards that this service has never given, so that the cards keep them; the others get the
 * next numbers of their types. Once for each transfer.
 */
export async function claimNumbers(db: Db, transferId: string): Promise<void> {
  await query(db).run`with given as (
       select line, content ->> 'number' as number, split_part(content ->> 'number', '-', 1) as prefix,
         case when content ->> 'number' ~ '^[A-Z]{2,5}-[0-9]{5,9}$'
           then split_part(content ->> 'number', '-', 2)::bigint end as n
       from workspace_transfer_rows
       where transfer_id = ${transferId}::uuid and kind = 'cards' and action = 'create' and not done
         and not content \\? 'numbered'
     ), sequences as (
       select prefix, to_regclass('card_numbers_' || lower(prefix)) as sequence, max(n) as farthest
       from given where n is not null group by prefix
     ), missing as (
       select prefix, sequence, farthest - coalesce(pg_sequence_last_value(sequence), 0) as numbers
       from sequences where sequence is not null
     ), claimed as materialized (
       select m.prefix, nextval(m.sequence) as n
       from missing m cross join lateral generate_series(1, case when m.numbers <= ${FARTHEST} then m.numbers end)
     ), kept as (
       select min(g.line) as line from given g join claimed k on k.prefix = g.prefix and k.n = g.n
       where g.number = card_number(k.prefix, k.n) group by g.number
     )
     update workspace_transfer_rows r
     set content = r.content || case when k.line is null then '{"numbered": true, "number": null}'
       else '{"numbered": true}' end::jsonb
     from given g left join kept k on k.line = g.line
     where r.transfer_id = ${transferId}::uuid and r.kind = 'cards' and r.line = g.line`;
}
