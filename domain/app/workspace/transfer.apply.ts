import { embed, inTransaction, query } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { roleRightsChanged } from '../../access/rights.changed.ts';
import { lockRoles } from '../../access/roles.commands.ts';
import { reloadMetamodel } from '../../inventory/calculations/calculations.commands.ts';
import { recomputeOrEnqueue } from '../../inventory/calculations/recalculate.type.ts';
import { emitCardType, writeCardType } from '../../inventory/metamodel/card-types/card-types.changes.ts';
import { updateInventory } from '../../inventory/metamodel/changes/changes.inventory.ts';
import { openRun } from '../../inventory/metamodel/changes/changes.run.ts';
import type { ChangeRun } from '../../inventory/metamodel/changes/changes.types.ts';
import {
  emitRelationType,
  requireFreePair,
  writeRelationType,
} from '../../inventory/metamodel/relation-types/relation-types.changes.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Work } from '../../kernel/context.ts';
import { differingMembers, type StoredRow } from '../../kernel/events/row-changes.ts';
import { Calculation, type CalculationRow } from '../../kernel/formulas/calculations.model.ts';
import type { JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import {
  CardTypeDefinition,
  type CardTypeRow,
  RelationTypeDefinition,
  type RelationTypeRow,
} from '../../kernel/metamodel/metamodel.model.ts';
import { insertRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { PROCESS } from '../../modelling/bpm/bpm.model.ts';
import { followApprovers } from '../../modelling/bpm/flow.approvers.ts';
import { findNarrowing, requireTransferRights, roleErrors, type StoredRole } from './transfer.check.ts';
import { unstage } from './transfer.cleanup.ts';
import { countActions, skippedRows, skipRows } from './transfer.diff.ts';
import { requireFormulas } from './transfer.formulas.ts';
import type { Reason, TransferResult } from './transfer.model.ts';
import { claimNumbers } from './transfer.numbers.ts';
import { reasonOf } from './transfer.rows.ts';
import { columnsOf, isRowError, openTransferArchive, readShapes } from './transfer.stage.ts';
import { writeCards, writeCardTags, writeRelations } from './transfer.write.cards.ts';
import {
  rescoreImported,
  storeContents,
  writeFiles,
  writePeople,
  writeSettings,
  writeSigned,
  writeTodos,
  writeWithApprovers,
} from './transfer.write.others.ts';
import {
  type Applying,
  emitRows,
  type Page,
  RowRefused,
  readPage,
  writePlain,
  writeRows,
} from './transfer.write.ts';
import type { WorkspaceTransferPayload } from './workspace.jobs.ts';
import { contentTable, contentTables, PEOPLE, SETTINGS } from './workspace.tables.ts';

/** Writes a page of the metamodel, and updates the data that depends on it. */
async function changingMetamodel(page: Page, write: (run: ChangeRun) => Promise<void>): Promise<void> {
  const run = openRun(page.work, page.ctx, { language: DEFAULT_LANGUAGE });
  await write(run);
  await updateInventory(run);
  await run.held?.record();
}

/** The columns of a definition that the archive sets. */
const valuesOf = ({ columns }: Page, content: StoredRow): StoredRow =>
  Object.fromEntries(
    columns.filter((column) => column in content).map((column) => [column, content[column]]),
  );

/** Writes card types: an existing one gets additional fields and options, and no stored value is lost. */
async function writeCardTypes(page: Page): Promise<void> {
  await changingMetamodel(page, async (run) => {
    for (const { content, before } of await readPage(page)) {
      const values = valuesOf(page, content);
      if (before) {
        await refuseLoss(page, 'cards', before, values);
        const { number_prefix: _, ...others } = values;
        await writeCardType(run, before as CardTypeRow, differingMembers(before, others));
      } else emitCardType(run.work, null, await insertRow(run.work.sql, CardTypeDefinition, values));
    }
  });
}

/** Writes relation types. */
async function writeRelationTypes(page: Page): Promise<void> {
  await changingMetamodel(page, async (run) => {
    for (const { content, before } of await readPage(page)) {
      const values = valuesOf(page, content);
      if (before) {
        await refuseLoss(page, 'relations', before, values);
        await writeRelationType(run, before as RelationTypeRow, differingMembers(before, values));
      } else {
        const row = await insertRow(run.work.sql, RelationTypeDefinition, values);
        await requireFreePair(run.work, row);
        emitRelationType(run.work, null, row);
      }
    }
  });
}

async function refuseLoss(
  { work }: Page,
  holder: string,
  before: StoredRow,
  after: StoredRow,
): Promise<void> {
  const loss = findNarrowing(before, { ...before, ...after });
  if (!loss) return;
  const type = String(before.key);
  if (!(await work.sql(holder).where({ type }).first('id'))) return;
  throw new RowRefused([
    { field: '', code: 'values_do_not_fit', message: `Values here would lose their place: ${loss}.` },
  ]);
}

/** Writes parts of the metamodel that are plain rows: stakeholder roles, tag groups and tags. */
async function writeMetamodelRows(page: Page): Promise<void> {
  await changingMetamodel(page, async () => {
    const written = await writePlain(page);
    // Roles on processes determine who approves their flows.
    if (written.some(({ after }) => after.card_type_key === PROCESS)) await followApprovers(page.work);
  });
}

/** Writes formulas, and computes the values of active ones. */
async function writeCalculations(page: Page): Promise<void> {
  const { work, ctx } = page;
  const written = await writeRows(page, await readPage(page));
  await requireFormulas(page, written);
  const ids = written.map(({ after }) => ({ calculation_id: after.id as string }));
  if (ids.length > 0) await work.sql('calculation_runs').insert(ids).onConflict().ignore();
  await reloadMetamodel(work);
  for (const { after } of written) {
    if (after.is_active) await recomputeOrEnqueue(work, ctx, after as unknown as CalculationRow);
  }
  // Emitted after the events of the cards, so that an undo starts with it.
  await emitRows({ ...page, table: { ...page.table, table: Calculation.tableName } }, written);
}

/**
 * Writes roles with the checks of their own operations: nobody can grant by an archive permissions that they do not
 * have, and open requests to users who lose rights are reassigned.
 */
async function writeRoles(page: Page): Promise<void> {
  const { work, ctx } = page;
  await lockRoles(work);
  const rows = await readPage(page);
  for (const { content, before } of rows) {
    const errors = roleErrors(ctx.caller, content, before as StoredRole | null);
    if (errors.length > 0) throw new RowRefused(errors);
  }
  const written = await writePlain(page, rows);
  const keys = written.flatMap(({ before, after }) => (before === null ? [] : [after.key as string]));
  await roleRightsChanged(work, ctx, keys);
}

/** The kinds that have their own write functions. */
const writers: Record<string, (page: Page) => Promise<unknown>> = {
  roles: writeRoles,
  card_types: writeCardTypes,
  relation_types: writeRelationTypes,
  calculations: writeCalculations,
  files: writeFiles,
  cards: writeCards,
  relations: writeRelations,
  card_tags: writeCardTags,
  stakeholders: writeWithApprovers('card_id'),
  todos: writeTodos,
  adrs: writeSigned,
  soaws: writeSigned,
  process_flow_versions: writeWithApprovers('process_id'),
};

/**
 * Writes a checked archive: kind by kind in the order of references, in pages. Each page is one transaction with its
 * events, the `done` marks of its rows and the checkpoint of the job. Refused rows are reported and do not stop others.
 * A resumed run continues with the rows that are not marked.
 * @param tuning maximum rows of a page.
 */
export async function runApply(
  job: RunningJob<WorkspaceTransferPayload>,
  services: Services,
  tuning = { pageRows: 500 },
): Promise<JobResult> {
  requireTransferRights(job.ctx.caller);
  const archive = await openTransferArchive(services, job.payload.transfer_id);
  try {
    const shapes = await readShapes(services.db, contentTables);
    const applying: Applying = { job, services, archive, shapes, pageRows: tuning.pageRows };
    const written = await countWritten(applying);
    job.ctx.batch.rowCount = written.total;
    await applyKind(applying, PEOPLE, written);
    for (const { table } of contentTables) {
      if (table === 'cards') await claimNumbers(services.db, job.payload.transfer_id);
      await applyKind(applying, table, written);
    }
    await applyKind(applying, SETTINGS, written);
    await rescoreImported(applying);
  } finally {
    archive.close();
  }
  return await finish(job, services);
}

/** The rows that are written so far, of all that are to be written. */
interface Written {
  done: number;
  total: number;
}

async function countWritten({ job, services: { db } }: Applying): Promise<Written> {
  const [written] = await query(db).rows<Written>`select count(*)::int as total,
    count(*) filter (where done)::int as done
    from workspace_transfer_rows
    where transfer_id = ${job.payload.transfer_id}::uuid and (done or action in ('create', 'update'))`;
  return written!;
}

const progressOf = ({ done, total }: Written) => ({
  progress: (done / Math.max(total, 1)) * 0.95,
  message: `${done} of ${total} rows`,
  counts: { total, done },
});

/** Writes the rows of a kind that are not yet written. */
async function applyKind(applying: Applying, kind: string, written: Written): Promise<void> {
  const { job, services } = applying;
  for (;;) {
    job.signal.throwIfAborted();
    const rows = await query(services.db).rows`select line, ref from workspace_transfer_rows
      where transfer_id = ${job.payload.transfer_id}::uuid and kind = ${kind}
         and action in ('create', 'update') and not done order by depth, line
         limit ${embed(applying.pageRows)}`;
    if (rows.length === 0) return;
    await applyRows(applying, kind, rows, written);
  }
}

/** Writes a page of rows. If it is refused, it is split in halves until the refused rows are isolated. */
async function applyRows(
  applying: Applying,
  kind: string,
  rows: { line: number; ref: string }[],
  written: Written,
): Promise<void> {
  const { job, services } = applying;
  const lines = rows.map(({ line }) => line);
  try {
    // Contents are stored before the rows that reference them.
    if (kind === 'files') {
      const ids = rows.map(({ ref }) => ref);
      await storeContents(applying, ids);
    }
    await commandWith(
      job.ctx,
      { changesMetamodel: kind === SETTINGS || contentTable.get(kind)?.metamodel === true },
      async (work) => {
        await write(applying, work, kind, lines);
        await query(work.sql).run`update workspace_transfer_rows set done = true
           where transfer_id = ${job.payload.transfer_id}::uuid and kind = ${kind}
           and line = any(${lines}::integer[])`;
        const now = progressOf({ ...written, done: written.done + lines.length });
        await job.checkpoint(work, { ...now, checkpoint: { kind, line: lines.at(-1) } });
      },
    );
    written.done += lines.length;
  } catch (error) {
    const reason = refusalOf(error);
    if (!reason) throw error;
    if (rows.length === 1) {
      await skipRows({ db: services.db, transferId: job.payload.transfer_id }, kind, [
        { line: lines[0]!, ...reason },
      ]);
      return;
    }
    const half = Math.ceil(rows.length / 2);
    await applyRows(applying, kind, rows.slice(0, half), written);
    await applyRows(applying, kind, rows.slice(half), written);
  }
}

async function write(applying: Applying, work: Work, kind: string, lines: number[]): Promise<void> {
  const { job, shapes } = applying;
  if (kind === PEOPLE) return await writePeople(applying, work, lines);
  if (kind === SETTINGS) return await writeSettings(applying, work, job.ctx, lines);
  const table = contentTable.get(kind)!;
  const columns = columnsOf(applying, table, shapes.get(kind)!);
  const page: Page = { applying, work, ctx: job.ctx, table, columns, lines };
  await (writers[kind] ?? (table.metamodel ? writeMetamodelRows : writePlain))(page);
}

/** Why rows were refused; undefined if the error has another cause. */
function refusalOf(error: unknown): Reason | undefined {
  if (error instanceof RowRefused) return reasonOf(error.errors!);
  if (error instanceof EstateError && error.status < 500) {
    return error.errors?.length
      ? reasonOf(error.errors)
      : { code: error.code, message: error.message.slice(0, 500) };
  }
  if (!isRowError(error)) return undefined;
  const { code, constraint } = error as { code: string; constraint?: string };
  if (code === '23505') return { code: `taken:${constraint}`, message: 'Another row here has it already.' };
  if (code === '23503')
    return { code: 'unknown_reference', message: 'It refers to an object that does not exist here.' };
  return { code: 'does_not_fit', message: `A value does not fit${constraint ? ` (${constraint})` : ''}.` };
}

/** Ends the job and the transfer, with the counts of all kinds. */
async function finish(job: RunningJob<WorkspaceTransferPayload>, { db }: Services): Promise<JobResult> {
  const { transfer_id: id } = job.payload;
  const { kinds, totals } = await countActions(db, id);
  const result: TransferResult = { kinds, totals, left: await skippedRows(db, id) };
  const done: JobResult = {
    result: { transfer_id: id, ...totals },
    counts: { ...totals },
    message: `${totals.create} created, ${totals.update} changed, ${totals.unchanged} the same, ${totals.conflict} left alone`,
  };
  await inTransaction(db, async (sql) => {
    await query(sql).run`update workspace_transfers
      set status = 'applied', result = ${JSON.stringify(result)}, applied_at = clock_timestamp()
      where id = ${id}`;
    await unstage(sql, id);
    await query(sql).run`update files set expires_at = now()
      where id = (select file_id from workspace_transfers where id = ${id})`;
    await job.finish({ sql }, done);
  });
  return done;
}
