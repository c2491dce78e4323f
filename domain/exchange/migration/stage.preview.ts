import type { Knex } from 'knex';
import { inTransaction } from '../../../platform/database.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { attemptBatch } from '../imports/imports.apply-batches.ts';
import { planCards } from '../imports/imports.cards.plan.ts';
import { type CardStager, createCardStager } from '../imports/imports.cards.stage.ts';
import { readTagCatalogue } from '../imports/imports.people.ts';
import { storeOutcomes } from '../imports/imports.staging.ts';
import { cardsBehind, handOver } from './import.rows.ts';
import { noteDiffs } from './stage.diffs.ts';

const READ = 500;
const BATCH = 1_000;

/**
 * Says what would become of each card, by the very plan and statements of an import, batch by batch, each rolled back.
 * @param told tells how far it is, 0 to 1.
 */
export async function previewCards(
  job: RunningJob,
  { db }: Services,
  migrationId: string,
  told: (fraction: number) => void,
): Promise<void> {
  const { ctx, id: jobId, signal } = job;
  const around = {
    stager: (await createCardStager(ctx, db)) as CardStager,
    catalogue: await readTagCatalogue(db),
  };
  for (let line = 0; ; ) {
    signal.throwIfAborted();
    const records = await inTransaction(db, async (sql) => {
      await job.checkpoint({ sql }, {});
      const found = await cardsBehind(sql, migrationId, line, ['create'], READ);
      if (found.length > 0) await handOver(ctx, sql, jobId, around, found);
      return found;
    });
    if (records.length === 0) break;
    line = records.at(-1)!.line;
  }
  told(0.2);
  const { batches } = await inTransaction(db, async (sql) => {
    const planned = await planCards({
      sql,
      ctx,
      jobId,
      mode: 'upsert',
      batchRows: BATCH,
      pulse: () => signal.throwIfAborted(),
    });
    await job.checkpoint({ sql }, {});
    return planned;
  });
  told(0.3);
  for (let batch = 0; batch < batches; batch += 1) {
    signal.throwIfAborted();
    const planned = { ctx, kind: 'cards', jobId, batch, dryRun: true } as const;
    const outcomes = await attemptBatch(planned, async () => undefined);
    await inTransaction(db, async (sql) => {
      await storeOutcomes(sql, jobId, outcomes);
      await job.checkpoint({ sql }, {});
    });
    told(0.3 + (0.5 * (batch + 1)) / batches);
  }
  await inTransaction(db, async (sql) => {
    await noteOutcomes(sql, migrationId, jobId);
    await job.checkpoint({ sql }, {});
  });
  told(0.9);
  await noteDiffs(job, db, migrationId);
}

/** What is wrong with a row as a sentence; lines of the import are told as rows of their sheets. */
const sentence = `(select string_agg(concat_ws(': ', nullif(e ->> 'field', 'row'),
    coalesce((select replace(e ->> 'message', m[1], 'row ' || other."row" || ' of ' || other.sheet)
      from regexp_match(e ->> 'message', 'line [0-9]{1,9}\\M') as m
      join migration_records other on other.migration_id = r.migration_id and other.line = substr(m[1], 6)::int),
      e ->> 'message')), '; ')
  from jsonb_array_elements(o.errors) e)`;

async function noteOutcomes(sql: Knex.Transaction, migrationId: string, jobId: string): Promise<void> {
  await sql.raw(
    `update migration_records r set
       action = case o.outcome when 'created' then 'create' when 'updated' then 'update' when 'unchanged' then 'skip'
         else 'conflict' end,
       error_message = case when o.outcome = 'failed' then ${sentence} end,
       target_id = case when not p.is_new then p.card_id end
     from import_outcomes o left join import_card_plan p on p.job_id = o.job_id and p.line = o.line
     where o.job_id = ? and r.migration_id = ? and r.line = o.line`,
    [jobId, migrationId],
  );
  // what hangs on a card goes with it, or is there already
  await sql.raw(
    `update migration_records r set action = 'conflict', error_message = 'the card cannot be made'
     from migration_records c
     where r.migration_id = ? and r.entity_kind in ('card_tag', 'subscription') and r.action = 'create'
       and c.migration_id = r.migration_id and c.line = r.source_line and c.action = 'conflict'`,
    [migrationId],
  );
  await sql.raw(
    `update migration_records r set action = 'skip', target_id = s.id
     from migration_records c join stakeholders s on s.card_id = c.target_id
     where r.migration_id = ? and r.entity_kind = 'subscription' and r.action = 'create'
       and c.migration_id = r.migration_id and c.line = r.source_line
       and s.user_id = (r.payload ->> 'user_id')::uuid and s.role = r.payload ->> 'role'`,
    [migrationId],
  );
  await sql.raw(
    `update migration_records r set action = 'skip', target_id = t.id
     from migration_records c join card_tags k on k.card_id = c.target_id join tags t on t.id = k.tag_id
     join tag_groups g on g.id = t.tag_group_id
     where r.migration_id = ? and r.entity_kind = 'card_tag' and r.action = 'create'
       and c.migration_id = r.migration_id and c.line = r.source_line
       and lower(t.name) = lower(r.payload ->> 'name') and lower(g.name) = lower(r.payload ->> 'group')`,
    [migrationId],
  );
}
