import { type Db, embed, inTransaction, query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import type { FailedJob, JobResult, JobTransaction, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import type { StoredImage } from '../../kernel/settings/settings.definition.ts';
import { type SettingKey, settingValue, storedKey } from '../../kernel/settings/settings.read.ts';
import { checkRows, requireTransferRights } from './transfer.check.ts';
import { unstage } from './transfer.cleanup.ts';
import { compareRows, countActions, findDangling, skippedRows, skipRows } from './transfer.diff.ts';
import type { TransferDiff } from './transfer.model.ts';
import { removeUnknownUsers } from './transfer.references.ts';
import { type Checking, reasonOf } from './transfer.rows.ts';
import {
  columnsOf,
  isRowError,
  matchPeople,
  matchRows,
  measureDepths,
  openTransferArchive,
  partOf,
  readShapes,
  requireOnce,
  type Staging,
  stagedRows,
  stageRows,
  type TableCheck,
} from './transfer.stage.ts';
import { type Archive, ArchiveError } from './workspace.archive.ts';
import type { WorkspaceTransferPayload } from './workspace.jobs.ts';
import { portableErrors } from './workspace.settings.ts';
import { contentTables, PEOPLE, SETTINGS } from './workspace.tables.ts';
import type { ContentTable } from './workspace.types.ts';

/** The JSON type of a column's values, and its name in messages. */
function jsonOf(type: string): { json: string; word: string } {
  if (type.endsWith('[]')) return { json: 'array', word: 'list' };
  if (/^(smallint|integer|bigint|numeric|real|double)/.test(type)) return { json: 'number', word: 'number' };
  if (type === 'boolean') return { json: 'boolean', word: 'truth value' };
  if (type === 'uuid') return { json: 'string', word: 'id' };
  if (type === 'date' || type.startsWith('timestamp')) return { json: 'string', word: 'date' };
  return { json: 'string', word: 'text' };
}

/** SQL of whether a JSON value is valid input of the type, which is a literal so that it is parsed once. */
function isReadBy(type: string, value: string): string {
  const reads = (text: string, one: string) => {
    if (one === 'text') return 'true';
    const isValid = `pg_input_is_valid(${text}, '${one}')`;
    // PostgreSQL also has infinite times, and years that RFC 3339 cannot represent.
    return /^(?:date|timestamp)/.test(one)
      ? `case when ${isValid} then (${text})::${one} >= '0001-01-01' and (${text})::${one} < '9999-12-31' else false end`
      : isValid;
  };
  if (!type.endsWith('[]')) return reads(`${value} #>> '{}'`, type);
  return `(select coalesce(bool_and(e is not null and ${reads('e', type.slice(0, -2))}), true) from jsonb_array_elements_text(${value}) e)`;
}

/**
 * Skips rows with values of the wrong type, keys included, and removes those values, so that the other rows can be processed.
 */
async function skipMistyped(
  { db, transferId, shapes }: Staging,
  { table }: ContentTable,
  columns: readonly string[],
): Promise<void> {
  const { types } = shapes.get(table)!;
  const typed = columns.filter((column) => types[column] !== 'jsonb');
  if (typed.length === 0) return;
  const tests = typed.map((column) => {
    const type = types[column]!;
    const { json, word } = jsonOf(type);
    const value = `(s.content -> '${column}')`;
    const isWrong = `case jsonb_typeof(${value}) when 'null' then false when '${json}' then not ${isReadBy(type, value)}
      else ${value} is not null end`;
    return { isWrong, row: `('${column}', '${word}', ${isWrong})` };
  });
  // Most rows are valid: the names of wrong values are only looked for in the others.
  await query(db).run`with invalid as materialized (
       select s.line, s.content from workspace_transfer_rows s
       where s.transfer_id = ${transferId}::uuid and s.kind = ${table}
         and (${embed(tests.map(({ isWrong }) => isWrong).join(' or '))})
     ), wrong as materialized (
       select s.line, array_agg(v.name) as names, min(v.name || ' is no ' || v.word) as message,
         min(v.name) as field
       from invalid s
       cross join lateral (values ${embed(tests.map(({ row }) => row).join(', '))}) v (name, word, is_wrong)
       where v.is_wrong group by s.line
     )
     update workspace_transfer_rows r set action = 'conflict', content = r.content - w.names,
       reason = jsonb_build_object('code', 'wrong_type', 'message', w.message, 'field', w.field)
     from wrong w where r.transfer_id = ${transferId}::uuid and r.kind = ${table} and r.line = w.line`;
}

/** Skips rows that violate a not-null or check constraint of the table. */
async function skipConstraintViolations(
  staging: Staging,
  { table }: ContentTable,
  columns: readonly string[],
): Promise<void> {
  const { db, transferId, shapes } = staging;
  const { required, checks } = shapes.get(table)!;
  const tested = [
    ...required
      .filter((column) => columns.includes(column))
      .map((column) => ({
        holds: `n."${column}" is not null`,
        code: 'required',
        field: column,
        message: `${column} is missing`,
      })),
    ...checks.map((check) => ({ holds: check.expression, ...refusalOf(check) })),
  ];
  if (tested.length === 0) return;
  // As in PostgreSQL, a check that is null is fulfilled; the first violated one is reported.
  const first = tested.map(({ holds }, at) => `when not (${holds.replaceAll('?', '\\?')}) then ${at}`);
  const rows = await query(db).rows<{ line: number; at: number }>`select line, at from (
       select k.staged_line as line, case ${embed(first.join(' '))} end as at
       -- fenced off, so that each row is read once and not for each column
       from (select s.line as staged_line, s.n from ${stagedRows(table, transferId)} s
             where s.action in ('create', 'update') offset 0) k
       cross join lateral (select (k.n).*) n
     ) violated where at is not null`;
  const left = rows.map(({ line, at }) => {
    const { code, field, message } = tested[at]!;
    return { line, code, field, message };
  });
  await skipRows(staging, table, left);
}

/** The error of a violated check. */
function refusalOf({ expression, columns }: TableCheck): { code: string; field: string; message: string } {
  const [field = ''] = columns;
  // `status = ANY (ARRAY['open'::text, 'done'::text])`, PostgreSQL's form of `in`.
  const [, list] = /^\(\(?\w+\)? = ANY \(\(?ARRAY\[([^\]]*)\]/.exec(expression) ?? [];
  const options = [...(list ?? '').matchAll(/'((?:[^']|'')*)'/g)].map(([, option]) => option);
  if (columns.length === 1 && options.length > 0) {
    return { code: 'unknown_option', field, message: `${field} is none of ${options.join(', ')}` };
  }
  const named = columns.length > 1 ? `${columns.slice(0, -1).join(', ')} and ${columns.at(-1)}` : field;
  const message =
    columns.length > 1 ? `${named} do not go together` : `${named} has a value that it does not take`;
  return { code: 'does_not_fit', field, message };
}

/** Staged rows from which on statistics for the query planner are updated. */
const MANY = 500;
const MAIL = /^[^\s@]{1,200}@[^\s@]{1,200}$/;

/**
 * Reads an uploaded archive: checks its format, names, sizes and checksums, stages its rows, matches them with existing rows, and
 * determines what would be created, updated or skipped. The workspace is not changed.
 */
export async function runParse(
  job: RunningJob<WorkspaceTransferPayload>,
  services: Services,
): Promise<JobResult> {
  const { transfer_id: id } = job.payload;
  requireTransferRights(job.ctx.caller);
  // rows of an interrupted run
  await unstage(services.db, id);
  let archive: Archive | undefined;
  try {
    archive = await openTransferArchive(services, id);
    return await preview(job, services, archive);
  } catch (error) {
    if (error instanceof ArchiveError) throw refusal(error.message);
    throw error;
  } finally {
    archive?.close();
  }
}

const refusal = (message: string): EstateError =>
  new EstateError('validation_failed', message, {
    errors: [{ field: 'file', code: 'bad_archive', message }],
  });

async function preview(
  job: RunningJob<WorkspaceTransferPayload>,
  { db }: Services,
  archive: Archive,
): Promise<JobResult> {
  const { transfer_id: id } = job.payload;
  const { manifest } = archive;
  const total = manifest.files.reduce((sum, { rows = 0 }) => sum + rows, 0);
  let done = 0;
  const checking: Checking = {
    db,
    transferId: id,
    archive,
    shapes: await readShapes(db, contentTables),
    ids: new Map(),
    signal: job.signal,
    async staged(work: JobTransaction, rows) {
      done += rows;
      const message = `${done} of ${total} rows read`;
      await job.checkpoint(work, { progress: (done / Math.max(total, 1)) * 0.95, message });
    },
    caller: job.ctx.caller,
    metamodel: undefined,
    read: new Set(),
  };
  await readPeople(checking);
  for (const table of contentTables) {
    await readTable(checking, table).catch((error) => {
      if (!isRowError(error)) throw error;
      throw new ArchiveError(`A row of ${table.table} has a value that its column does not take.`);
    });
  }
  await readSettings(checking);
  await readContents(checking);
  job.signal.throwIfAborted();
  const { kinds, totals } = await countActions(db, id);
  const { service_version, schema_version, position, created_at } = manifest;
  const diff: TransferDiff = {
    kinds,
    totals,
    conflicts: await skippedRows(db, id),
    source: { service_version, schema_version, position, created_at },
    include_archived: manifest.include_archived,
  };
  const result: JobResult = {
    result: { transfer_id: id },
    counts: { total, ...totals },
    message: `${totals.create} new, ${totals.update} changed, ${totals.unchanged} the same, ${totals.conflict} left alone`,
  };
  await inTransaction(db, async (sql) => {
    const previewed = await query(sql).row`update workspace_transfers set status = 'previewed',
      format_version = ${manifest.format_version}, source_url = ${manifest.source_url},
      diff = ${JSON.stringify(diff)}, previewed_at = clock_timestamp()
      where id = ${id} and status = 'parsing' returning id`;
    if (!previewed) throw new EstateError('not_found', 'The transfer was discarded.');
    await job.finish({ sql }, result);
  });
  return result;
}

async function updateStatistics(db: Db, rows: number | undefined): Promise<void> {
  if ((rows ?? 0) > MANY)
    await query(db).run`analyze workspace_transfer_rows (transfer_id, kind, line, ref, action, depth)`;
}

async function readPeople(checking: Checking): Promise<void> {
  await stageRows(checking, PEOPLE);
  await requireOnce(checking, PEOPLE);
  const rows = await query(checking.db).rows`select line, content from workspace_transfer_rows
    where transfer_id = ${checking.transferId}::uuid and kind = '${embed(PEOPLE)}'`;
  const addresses = new Set<string>();
  for (const { line, content } of rows) {
    const { email, display_name } = content;
    const named =
      typeof display_name === 'string' && display_name.trim() !== '' && display_name.length <= 200;
    if (typeof email !== 'string' || !MAIL.test(email) || addresses.has(email.toLowerCase()) || !named) {
      throw new ArchiveError(`Line ${line} of ${PEOPLE} names no user, or a user twice.`);
    }
    addresses.add(email.toLowerCase());
  }
  await matchPeople(checking);
}

async function readTable(checking: Checking, table: ContentTable): Promise<void> {
  const part = partOf(checking.archive, table.table);
  if (part) {
    const columns = columnsOf(checking, table, checking.shapes.get(table.table)!);
    await stageRows(checking, table.table);
    await requireOnce(checking, table.table);
    await updateStatistics(checking.db, part.rows);
    await skipMistyped(checking, table, columns);
    await matchRows(checking, table);
    await removeUnknownUsers(checking, table.table);
    await measureDepths(checking, table);
    await compareRows(checking, table, columns);
    await skipConstraintViolations(checking, table, columns);
  }
  await checkRows(checking, table.table);
  // rows that depend on rows that are skipped by now
  if (part) await findDangling(checking, table);
}

/** Compares each setting with its current value. */
async function readSettings(checking: Checking): Promise<void> {
  const { db, transferId } = checking;
  await stageRows(checking, SETTINGS);
  await requireOnce(checking, SETTINGS);
  const rows = await query(db).rows`select s.line, s.content -> 'value' as value, s.content ->> 'key' as key,
    t.value as here
     from workspace_transfer_rows s
     left join settings t on t.key = ${storedKey('' as SettingKey)} || (s.content ->> 'key')
     where s.transfer_id = ${transferId}::uuid and s.kind = '${embed(SETTINGS)}'`;
  const around = { metamodel: checking.metamodel!, roles: new Set<string>() };
  const left = [];
  for (const { line, key, value, here } of rows) {
    const errors = [...portableErrors(key, value, around)];
    if (errors.length === 0 && isImage(key) && !(await hasImage(checking, value))) {
      errors.push({ field: 'value', code: 'content_mismatch', message: 'names no picture that is such' });
    }
    if (errors.length > 0) left.push({ line, ...reasonOf(errors) });
    else {
      const now = settingValue(key as SettingKey, here);
      await query(db).run`update workspace_transfer_rows
        set action = case when not ${here !== null}::boolean then 'create'
           when ${JSON.stringify(now)}::jsonb = content -> 'value' then 'unchanged' else 'update' end
         where transfer_id = ${transferId}::uuid and kind = '${embed(SETTINGS)}' and line = ${line}`;
    }
  }
  await skipRows(checking, SETTINGS, left);
}

const isImage = (key: string): boolean => key === 'logo' || key === 'favicon';

/** Whether the picture that a setting names exists here or in the archive, with the type, size and checksum of the setting. */
async function hasImage({ db, transferId }: Checking, value: StoredImage | null): Promise<boolean> {
  if (value === null) return true;
  const rows = await query(db).rows`select from files f
    where f.id = ${value.file_id}::uuid and f.owner_id is null
       and (f.media_type, f.size, f.sha256) = (${value.media_type}, ${value.size}::bigint, ${value.sha256})
     union all
     select from workspace_transfer_rows x where x.transfer_id = ${transferId}::uuid and x.kind = 'files'
     and x.ref = ${value.file_id}
       and x.action = 'create'
       and x.content @> ${JSON.stringify({ media_type: value.media_type, size: value.size, sha256: value.sha256 })}::jsonb`;
  return rows.length > 0;
}

/** Reads the files that no check has read, to verify their checksums. */
async function readContents({ archive, read, signal }: Checking): Promise<void> {
  for (const part of archive.manifest.files) {
    if (!part.name.startsWith('blobs/') || read.has(part.name)) continue;
    signal.throwIfAborted();
    for await (const _ of archive.read(part));
  }
}

/** Stores the failure of a job in its transfer. */
export async function storeFailure(
  { sql }: JobTransaction,
  { payload, error }: FailedJob<WorkspaceTransferPayload>,
): Promise<void> {
  await query(sql).run`update workspace_transfers set status = 'failed', error_message = ${error.message}
    where id = ${payload.transfer_id} and status in ('parsing', 'applying')`;
}
