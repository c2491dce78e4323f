import {
  type Db,
  embed,
  fragment,
  inTransaction,
  query,
  type Transaction,
} from '../../../platform/database.ts';
import type { JobTransaction, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { TagName } from '../../kernel/transfer/csv-cells.ts';
import { attemptBatch } from '../imports/imports.apply-batches.ts';
import { createStager, storeRows } from '../imports/imports.cards.stage.ts';
import type { StagedHolder } from '../imports/imports.cards.types.ts';
import { planImport } from '../imports/imports.plan.ts';
import type { InventoryKind } from '../imports/imports.row.ts';
import { readObjects } from '../imports/imports.source.ts';
import { removeStaged } from '../imports/imports.staged.clean.ts';
import { readTagCatalogue, resolveTags } from '../imports/imports.tags.ts';

/** Maximum rows of one read, and of one batch of writes. */
export interface Tuning {
  readRows: number;
  batchRows: number;
}
export const defaultTuning: Tuning = { readRows: 500, batchRows: 1_000 };

/** Records of a migration that pass through the stages of an import. */
export interface RecordImport {
  job: RunningJob;
  db: Db;
  migrationId: string;
  /** Whether batches are rolled back, and records store what applying them would do. */
  dryRun: boolean;
  tuning: Tuning;
  /** Stores in the transaction of each part which share of the kind is done. */
  advance(work: JobTransaction, kind: InventoryKind, share: number, batch?: number): Promise<void>;
}

/**
 * Imports the records of a kind that are not written yet: they are staged, planned as a whole, and written in batches,
 * each with the outcomes of its records. A repeated call continues with the other records.
 */
export async function importRecords(run: RecordImport, kind: InventoryKind): Promise<void> {
  const { job, db, dryRun, tuning, advance } = run;
  await inTransaction(db, async (sql) => {
    await removeStaged(sql, job.id);
    if (kind === 'relations') await stageRelations(run, sql);
    await advance({ sql }, kind, 0);
  });
  if (kind === 'cards') await stageCards(run);
  const options = { kind, mode: 'upsert', batchRows: tuning.batchRows } as const;
  const { batches } = await planImport(job, db, options, async (sql) => {
    // rows that failed in planning have their outcomes now
    await storeOutcomes(run, sql, kind, null);
    await advance({ sql }, kind, 0);
  });
  for (let batch = 0; batch < batches; batch += 1) {
    job.signal.throwIfAborted();
    await attemptBatch({ ctx: job.ctx, db, kind, jobId: job.id, batch, dryRun }, async (work) => {
      await storeOutcomes(run, work.sql, kind, batch);
      await advance(work, kind, (batch + 1) / batches, batch + 1);
    });
  }
}

/** Stages cards under the id of the job. They keep their lines. */
async function stageCards({ job, db, migrationId, tuning, advance }: RecordImport): Promise<void> {
  const { ctx, id: jobId, signal } = job;
  const stage = await createStager(ctx, db, 'cards');
  const catalogue = await readTagCatalogue(db);
  for (let line: number | undefined = 0; line !== undefined; ) {
    const after: number = line;
    signal.throwIfAborted();
    line = await inTransaction(db, async (sql) => {
      const records = await query(sql).rows<{
        line: number;
        value: object;
        tags: TagName[] | null;
        holders: StagedHolder[] | null;
      }>`select line, payload as value, a.tags, a.holders from migration_records r
         cross join lateral (
           select jsonb_agg(o.payload) filter (where o.entity_kind = 'card_tag') as tags,
             jsonb_agg(o.payload - 'email') filter (where o.entity_kind = 'subscription') as holders
           from migration_records o where o.migration_id = r.migration_id and o.source_line = r.line
             and o.entity_kind in ('card_tag', 'subscription') and o.action = 'create') a
         where migration_id = ${migrationId} and entity_kind = 'card' and line > ${after}
           and action in ('create', 'update') and status = 'pending' and payload is not null
         order by line limit ${embed(tuning.readRows)}`;
      const staged = await stage(sql, readObjects(ctx.metamodel, 'cards', records));
      const attached = new Map(records.map((record) => [record.line, record]));
      for (const card of staged) {
        const type = ctx.metamodel.cardTypes.get(card.type ?? '');
        const { tags, holders } = attached.get(card.line)!;
        if (!card.payload || !type) continue;
        card.payload.additive = true;
        // missing tags are created before cards are written
        if (tags) card.payload.tags = resolveTags(catalogue, type, tags).ids;
        if (holders) card.payload.holders = holders;
      }
      await storeRows(sql, jobId, 'cards', staged);
      await advance({ sql }, 'cards', 0);
      return records.at(-1)?.line;
    });
  }
}

/** Stages the relations whose cards exist; the others have failed. */
async function stageRelations({ job, migrationId }: RecordImport, sql: Transaction): Promise<void> {
  await query(sql).run`with ends as (
       select r.line, r.relation_type, coalesce(r.payload, '{}') as payload,
         coalesce(r.source_card, s.target_id) as source, coalesce(r.target_card, t.target_id) as target
       from migration_records r
       left join migration_records s on s.migration_id = r.migration_id and s.line = r.source_line
       left join migration_records t on t.migration_id = r.migration_id and t.line = r.target_line
       where r.migration_id = ${migrationId} and r.entity_kind = 'relation'
         and r.action in ('create', 'update') and r.status = 'pending'
     ), failed as (
       update migration_records r set status = 'error', error_message = 'one of its cards was not written'
       from ends e where r.migration_id = ${migrationId} and r.line = e.line
       and (e.source is null or e.target is null)
     )
     insert into import_relation_rows (job_id, line, type, source_id, target_id, bytes, payload)
     select ${job.id}::uuid, line, relation_type, source, target, octet_length(payload::text), payload
     from ends where source is not null and target is not null`;
}

/** The errors of an import's outcome `o` as one text; lines become rows of the sheets. */
const errorText = `(select string_agg(concat_ws(': ', nullif(e ->> 'field', 'row'),
    coalesce((select replace(e ->> 'message', m[1], 'row ' || other."row" || ' of ' || other.sheet)
      from regexp_match(e ->> 'message', 'line [0-9]{1,9}\\M') as m
      join migration_records other on other.migration_id = r.migration_id and other.line = substr(m[1], 6)::int),
      e ->> 'message')), '; ')
  from jsonb_array_elements(o.errors) e)`;

const planned = {
  cards: { table: 'import_card_plan', id: 'card_id', kind: 'card' },
  relations: { table: 'import_relation_plan', id: 'relation_id', kind: 'relation' },
} as const;

/**
 * Stores the outcomes of rows in their records: of one batch, or if null of the rows that failed in planning. Tags and
 * stakeholders are written with their cards.
 */
async function storeOutcomes(
  { job, migrationId, dryRun }: RecordImport,
  sql: Transaction,
  target: InventoryKind,
  batch: number | null,
): Promise<void> {
  const { table, id, kind } = planned[target];
  const outcome = dryRun
    ? `action = case o.outcome when 'created' then 'create' when 'updated' then 'update' when 'unchanged' then 'skip'
         else 'conflict' end,
       target_id = case when not p.is_new then p.${id} end`
    : `status = case o.outcome when 'failed' then 'error' else 'applied' end,
       target_id = case when o.outcome = 'failed' then r.target_id else p.${id} end`;
  await query(sql).run`update migration_records r set ${embed(outcome)},
       error_message = case when o.outcome = 'failed' then ${embed(errorText)} end
     from import_outcomes o left join ${embed(table)} p on p.job_id = o.job_id and p.line = o.line
     where o.job_id = ${job.id} and r.migration_id = ${migrationId} and r.line = o.line
       and r.entity_kind = ${kind}
       and ${embed(batch === null ? fragment`o.outcome = 'failed'` : fragment`p.batch = ${batch}`)}`;
  if (dryRun || target === 'relations') return;
  await query(sql).run`update migration_records r set status = c.status,
       error_message = case when c.status = 'error' then 'its card was not written' end
     from migration_records c
     where r.migration_id = ${migrationId} and r.entity_kind in ('card_tag', 'subscription')
       and r.action = 'create' and r.status = 'pending' and c.migration_id = r.migration_id
       and c.line = r.source_line and c.status <> 'pending'`;
}
