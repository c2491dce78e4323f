import { inTransaction } from '../../../platform/database.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { Migration, type MigrationRow } from './migration.model.ts';
import { blocksOf } from './source.blocks.ts';
import { readSource } from './source.read.ts';
import type { SourceFacts } from './source.types.ts';

/** The checkpoint of making records. */
type StageProgress = { stage: 'read'; line: number } | { stage: 'stage' };

/** The approximate share of reading in the whole time. */
export const READ_SHARE = 0.4;

/**
 * Reads the file of a migration into its raw rows, and finds the native types in it. Resumes from the checkpoint.
 * @throws EstateError `validation_failed` where the file cannot be read.
 */
export async function parseFile(
  job: RunningJob,
  { db, blobs }: Services,
  migration: MigrationRow,
): Promise<void> {
  const from = (job.resume as StageProgress | null) ?? { stage: 'read', line: 0 };
  const done = from.stage === 'read' ? from.line : 0;
  const facts: SourceFacts = { blocks: new Map(), version: null };
  const file = {
    id: migration.file_id,
    name: migration.file_name,
    size: migration.file_size,
    source: migration.source_type,
  };
  let total = done;
  for await (const rows of readSource(blobs, file, facts)) {
    job.signal.throwIfAborted();
    const fresh = rows.filter(({ line }) => line > done);
    if (fresh.length === 0) continue;
    total = fresh.at(-1)!.line;
    await inTransaction(db, async (sql) => {
      await sql.raw(
        `insert into migration_rows (migration_id, line, sheet, "row", native_type, cells)
         select ?::uuid, line, sheet, "row", native_type, cells
         from jsonb_to_recordset(?::jsonb) as v(line integer, sheet text, "row" integer, native_type text, cells jsonb)`,
        [migration.id, JSON.stringify(fresh)],
      );
      await job.checkpoint(
        { sql },
        {
          message: `Reading: ${total} rows`,
          checkpoint: { stage: 'read', line: total } satisfies StageProgress,
        },
      );
    });
  }
  const blocks = blocksOf(facts.blocks);
  await inTransaction(db, async (sql) => {
    await updateRow(
      sql,
      Migration,
      { id: migration.id },
      { blocks, snapshot_version: facts.version, status: 'parsed', parsed_at: new Date().toISOString() },
    );
    const checkpoint: StageProgress = { stage: 'stage' };
    await job.checkpoint({ sql }, { progress: READ_SHARE, message: `Read ${total} rows`, checkpoint });
  });
}
