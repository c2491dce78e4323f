import type { Knex } from 'knex';
import { MAX_THREAD } from '../../collaboration/comments/comments.rules.ts';

const attached = `r.migration_id = ? and r.entity_kind in ('document', 'comment') and r.action = 'create'`;
/** The card of a record: one of the inventory, or one of the file. */
const card = (of: string) => `coalesce(${of}.source_card::text, ${of}.source_line::text)`;

/**
 * Says what would become of links and comments once the cards are known: what is there already or told twice is skipped,
 * and goes with its card where that is left out.
 */
export async function judgeAttached(sql: Knex.Transaction, migrationId: string): Promise<void> {
  const run = async (text: string): Promise<void> => {
    await sql.raw(text, Array(text.split('?').length - 1).fill(migrationId));
  };
  await run(
    `update migration_records r set source_card = c.target_id from migration_records c
     where ${attached} and c.migration_id = r.migration_id and c.line = r.source_line and c.target_id is not null`,
  );
  await run(
    `update migration_records r set action = case c.action when 'skip' then 'skip' else 'conflict' end,
       error_message = case c.action when 'skip' then 'its card is left out' else 'the card cannot be made' end
     from migration_records c
     where ${attached} and c.migration_id = r.migration_id and c.line = r.source_line and c.target_id is null
       and c.action in ('conflict', 'skip')`,
  );
  await run(
    `update migration_records r set action = 'skip', target_id = d.id
     from (select distinct on (d.card_id, d.url) d.id, d.card_id, d.url from documents d
           where d.card_id in (select o.source_card from migration_records o
             where o.migration_id = ? and o.entity_kind = 'document') order by d.card_id, d.url, d.id) d
     where ${attached} and r.entity_kind = 'document' and d.card_id = r.source_card and d.url = r.payload ->> 'url'`,
  );
  await run(
    `update migration_records r set action = 'skip', error_message = 'told by another row already'
     from (select r.line, row_number() over (partition by ${card('r')}, r.payload ->> 'url' order by r.line) as n
           from migration_records r where ${attached} and r.entity_kind = 'document') twice
     where r.migration_id = ? and r.line = twice.line and twice.n > 1`,
  );
  await judgeComments(run);
}

/** Of what comments tell nothing more: who writes them follows from that. */
const says = (of: string) =>
  `${card(of)}, ${of}.payload ->> 'content', coalesce(${of}.payload ->> 'created_at', '')`;

async function judgeComments(run: (text: string) => Promise<void>): Promise<void> {
  const comments = `${attached} and r.entity_kind = 'comment'`;
  // a comment with several replies stands in as many rows: all replies hang on the first
  await run(
    `update migration_records r set target_line = told.first
     from (select r.line, first_value(r.line) over (partition by ${says('r')} order by r.line) as first
           from migration_records r where ${comments} and r.target_line is null) told
     where ${comments} and r.target_line = told.line and told.first <> told.line`,
  );
  await run(
    `update migration_records r set action = 'skip', error_message = 'told by another row already'
     from (select r.line, row_number() over (partition by ${says('r')}, coalesce(r.target_line, 0) order by r.line) as n
           from migration_records r where ${comments}) twice
     where r.migration_id = ? and r.line = twice.line and twice.n > 1`,
  );
  // comments of the card that say the same are the same; where the source tells the time it has to agree as well
  await run(
    `update migration_records r set action = 'skip', target_id = c.id
     from comments c
     where ${comments} and c.card_id = r.source_card and c.deleted_at is null and c.content = r.payload ->> 'content'
       and (r.payload ->> 'created_at' is null or c.created_at = (r.payload ->> 'created_at')::timestamptz)
       and (c.parent_id is null) = (r.target_line is null)`,
  );
  await run(
    `update migration_records r set action = p.action, error_message = 'what it answers is not taken over'
     from migration_records p
     where ${comments} and p.migration_id = r.migration_id and p.line = r.target_line and p.target_id is null
       and p.action in ('skip', 'conflict')`,
  );
  await run(
    `update migration_records r set action = 'conflict', error_message = 'a thread holds at most ${MAX_THREAD} comments'
     from (select r.line, row_number() over (partition by r.target_line order by r.line) + 1
             + greatest((select count(*) from comments c where c.thread_id = p.target_id) - 1, 0) as n
           from migration_records r
           join migration_records p on p.migration_id = r.migration_id and p.line = r.target_line
           where ${comments}) placed
     where r.migration_id = ? and r.line = placed.line and placed.n > ${MAX_THREAD}`,
  );
}
