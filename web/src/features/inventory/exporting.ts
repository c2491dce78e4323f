import { call, createJobTicket, listCards, startExport, waitForJob } from '#client';
import { filterText, partsOf } from './filter.ts';
import type { InventorySearch } from './inventory.search.ts';
import type { ShownColumn } from './layout.ts';
import { listQueryOf, PAGE, selectionOf } from './rows.ts';

/** `workbook`: an Excel file to edit and to import again. */
export type ExportFormat = 'xlsx' | 'csv' | 'parquet' | 'workbook';

const lifecycle = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'].map((phase) => `lifecycle.${phase}`);

/** The columns of a file for a column of the table; those without one are left out. */
function fileColumns({ key }: ShownColumn): string[] {
  if (key === 'path') return ['parent_name'];
  if (key === 'lifecycle' || key === 'phase') return lifecycle;
  if (key.startsWith('stakeholders')) return ['stakeholders'];
  const isOwn = /^(relation\.|created_by$|updated_by$|archived_at$)/.test(key);
  return isOwn ? [] : [key];
}

/** Exports have no search: the found cards are named one by one, as far as a filter can. */
const MOST_FOUND = 190;

export class TooManyFound extends Error {}

/** The filter of an export for an address. @throws TooManyFound if a search finds more cards than a filter can name. */
async function exportFilter(search: InventorySearch): Promise<string> {
  const parts = [...partsOf(search.filter), `status = ${search.archived ? 'ARCHIVED' : 'ACTIVE'}`];
  if (search.mine) parts.push('stakeholder = me');
  if (search.search) {
    const { items, total = 0 } = await call(
      listCards({ query: { ...selectionOf(search), page_size: PAGE, fields: 'id' } }),
    );
    if (total > MOST_FOUND) throw new TooManyFound();
    const values = items.map(({ id }) => id!);
    if (values.length > 0) parts.push({ field: 'id', operator: 'in', values });
  }
  return filterText(parts)!;
}

/**
 * Writes the cards of an address with the columns that are shown into a file, as a job.
 * @param onProgress gets 0 to 1.
 * @returns the address of the file, for one download.
 */
export async function exportCards(
  search: InventorySearch,
  columns: readonly ShownColumn[],
  format: ExportFormat,
  language: string,
  onProgress: (progress: number) => void,
): Promise<string> {
  const { sort_by, sort_dir } = listQueryOf(search);
  const hasRelations = columns.some(({ relation }) => relation);
  const forEditing = format === 'workbook';
  const body = {
    format: forEditing ? ('xlsx' as const) : format,
    types: search.type ? [search.type] : [],
    filter: await exportFilter(search),
    // all that can be edited, or what is shown
    ...(forEditing
      ? { layout: 'sheet_per_type' as const, headers: 'labels' as const, language }
      : { columns: [...new Set(['id', 'type', ...columns.flatMap(fileColumns)])] }),
    // the relevance is an order of matches alone
    ...(sort_by !== 'relevance' && { sort_by, sort_dir }),
    // a person opens it with a spreadsheet program
    ...(format === 'csv' && { bom: true }),
    ...(format === 'xlsx' && hasRelations && { include: ['relations' as const] }),
  };
  const { job_id: id } = await call(startExport({ body }));
  await waitForJob(id, { onProgress: ({ progress }) => onProgress(progress) });
  const { ticket } = await call(createJobTicket({ path: { id } }));
  return `/api/v1/jobs/${id}/result?ticket=${encodeURIComponent(ticket)}`;
}
