import { type StoredContent, storeContent, storeWritten } from '../../../domain/kernel/files/files.store.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { labelledMetamodel } from '../../../domain/kernel/metamodel/metamodel.labels.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { withQueryTable } from '../../analysis/query/query.files.ts';
import { labelledQuery } from '../../analysis/query/query.labels.ts';
import { withKpiTable } from '../../inventory/kpis/kpis.files.ts';
import type { Table } from '../../kernel/formats/formats.types.ts';
import { writeWorkbook } from '../../kernel/formats/xlsx.ts';
import { type TableFormat, writeTables } from '../../kernel/report.formats.ts';
import { labelsOf, openReportFile, withReportTable } from '../../kernel/report.job.ts';
import type { PreparedPart } from './scheduled-report.prepare.ts';
import type { ScheduledReport } from './scheduled-report.types.ts';

type Job = Pick<RunningJob<unknown>, 'ctx' | 'signal'>;
type Wanted = Omit<ScheduledReport, 'saved_report_id'> & {
  format: TableFormat;
  /** Of the saved report. */
  name: string;
};

/** A stored file with the feed position of its data; null for what has none. */
interface StoredTables {
  content: StoredContent;
  position: string | null;
}

/** The oldest position: data is at least as new as its oldest part. */
export const oldestOf = (positions: string[]): string | null =>
  positions.toSorted((a, b) => Number(BigInt(a) - BigInt(b)))[0] ?? null;

/**
 * Writes the tables of a saved report: all tables of a report; of a dashboard a sheet for each tile with its main table, in
 * CSV that of one tile.
 */
export async function storeTables(
  services: Services,
  job: Job,
  wanted: Wanted,
  parts: PreparedPart[],
  isBoard: boolean,
): Promise<StoredTables> {
  const { format, table: tileTitle } = wanted;
  const [first] = parts;
  if (!isBoard && first!.kind === 'report') {
    const { content, position } = await openReportFile(services, job.ctx, first!.request, wanted, job.signal);
    return { content: await storeContent(services.blobs, content), position };
  }
  const tile = isBoard && tileTitle !== undefined ? parts.find(({ title }) => title === tileTitle) : first;
  const positions: string[] = [];
  const use = async (part: PreparedPart, write: (table: Table) => Promise<void>) => {
    const position = await withTable(services, job, wanted, part, write);
    if (position !== null) positions.push(position);
  };
  const { signal } = job;
  const { content } = await storeWritten(services.blobs, async (out) => {
    if (format === 'csv') return await use(tile!, (table) => writeTables(format, [table], out, { signal }));
    await writeWorkbook(out, { signal }, async (add) => {
      for (const part of parts) {
        await use(part, (table) => add({ ...table, name: part.title ?? table.name }));
      }
    });
  });
  return { content, position: oldestOf(positions) };
}

/** Passes the main table of a part to `use`. @returns the feed position of its data. */
async function withTable(
  services: Services,
  { ctx, signal }: Job,
  wanted: Wanted,
  part: PreparedPart,
  use: (table: Table) => Promise<void>,
): Promise<string | null> {
  if (part.kind === 'query') {
    const { language } = wanted;
    const named = language !== undefined &&
      wanted.format === 'xlsx' && { ...labelledMetamodel(ctx.metamodel, language), language };
    return await withQueryTable(services, ctx, part.query, part.plan, (table) =>
      use(named ? { ...labelledQuery(table, part.query, part.plan, named), name: wanted.name } : table),
    );
  }
  const request = part.kind === 'report' ? part.request : { params: {} };
  const labelled = await labelsOf(services, ctx, request, wanted);
  const useLabelled = (table: Table) => use({ ...table, columns: labelled(table.columns) });
  if (part.kind === 'report') {
    return await withReportTable(services, ctx, part.request, signal, useLabelled);
  }
  await withKpiTable(services, part, useLabelled);
  return null;
}
