import type { Knex } from 'knex';

/** Which outcomes are noted: of one batch, or of the rows that the plan has failed. */
export interface Noting {
  migrationId: string;
  jobId: string;
  batch: number | null;
}

const faults = `(select string_agg(concat_ws(': ', nullif(e ->> 'field', 'row'), e ->> 'message'), '; ')
  from jsonb_array_elements(o.errors) e)`;

/** Of a batch all rows, before the first batch those that have failed. */
const ofPart = (
  plan: string,
) => `from import_outcomes o left join ${plan} p on p.job_id = o.job_id and p.line = o.line
  where o.job_id = ? and r.migration_id = ? and r.line = o.line`;
const part = (batch: number | null) => (batch === null ? `and o.outcome = 'failed'` : 'and p.batch = ?');

/** Notes at the records of cards what became of their rows. */
export async function noteCards(sql: Knex.Transaction, { migrationId, jobId, batch }: Noting): Promise<void> {
  await sql.raw(
    `update migration_records r set
       status = case o.outcome when 'failed' then 'error' else 'applied' end,
       error_message = case when o.outcome = 'failed' then ${faults} end,
       target_id = case when o.outcome = 'failed' then r.target_id else p.card_id end
     ${ofPart('import_card_plan')} ${part(batch)} and r.entity_kind = 'card'`,
    [jobId, migrationId, ...(batch === null ? [] : [batch])],
  );
}

/** Notes the same at what hangs on cards: it was written with them. */
export async function noteFollowers(sql: Knex.Transaction, migrationId: string): Promise<void> {
  await sql.raw(
    `update migration_records r set status = c.status,
       error_message = case when c.status = 'error' then 'the card could not be written' end
     from migration_records c
     where r.migration_id = ? and r.entity_kind in ('card_tag', 'subscription') and r.action = 'create'
       and r.status = 'pending' and c.migration_id = r.migration_id and c.line = r.source_line and c.status <> 'pending'`,
    [migrationId],
  );
}

/** Makes rows for the import of relations of the records whose cards are there; the others have failed. */
export async function stageRelationRows(
  sql: Knex.Transaction,
  migrationId: string,
  jobId: string,
): Promise<void> {
  await sql.raw(
    `with ends as (
       select r.line, r.relation_type, coalesce(r.payload, '{}') as payload, coalesce(r.source_card, s.target_id) as source, coalesce(r.target_card, t.target_id) as target
       from migration_records r
       left join migration_records s on s.migration_id = r.migration_id and s.line = r.source_line
       left join migration_records t on t.migration_id = r.migration_id and t.line = r.target_line
       where r.migration_id = ? and r.entity_kind = 'relation' and r.action in ('create', 'update')
     ), failed as (
       update migration_records r set status = 'error', error_message = 'one of its cards could not be written'
       from ends e where r.migration_id = ? and r.line = e.line and (e.source is null or e.target is null)
     )
     insert into import_relation_rows (job_id, line, type, source_id, target_id, bytes, payload)
     select ?::uuid, line, relation_type, source, target, octet_length(payload::text), payload from ends where source is not null and target is not null`,
    [migrationId, migrationId, jobId],
  );
}

/** Notes at the records of relations what became of their rows. */
export async function noteRelations(
  sql: Knex.Transaction,
  { migrationId, jobId, batch }: Noting,
): Promise<void> {
  await sql.raw(
    `update migration_records r set
       status = case o.outcome when 'failed' then 'error' else 'applied' end,
       error_message = case when o.outcome = 'failed' then ${faults} end,
       target_id = case when o.outcome = 'failed' then null else p.relation_id end
     ${ofPart('import_relation_plan')} ${part(batch)} and r.entity_kind = 'relation'`,
    [jobId, migrationId, ...(batch === null ? [] : [batch])],
  );
}
