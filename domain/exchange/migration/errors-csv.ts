import { embed, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { neutralise, quoteCell } from '../../kernel/transfer/csv-cells.ts';

const PAGE = 2_000;
const columns = [
  'sheet',
  'row',
  'entity_kind',
  'source_type',
  'source_id',
  'name',
  'column',
  'reason',
] as const;
const lineOf = (cells: readonly (string | number | null)[]): string =>
  `${cells.map((cell) => quoteCell(neutralise(String(cell ?? '')))).join(',')}\r\n`;

/**
 * What a migration could not import, as CSV in the order of its records: conflicts, failed records, and values that
 * were left out. @throws EstateError `forbidden`, `not_found`.
 */
export async function errorLines(ctx: Ctx, id: string): Promise<AsyncGenerator<string>> {
  requirePermission(ctx.caller, 'admin.migrate');
  if (!(await ctx.db('migrations').where({ id }).first('id'))) throw notFound('migration', id);
  return lines(ctx, id);
}

async function* lines(ctx: Ctx, id: string): AsyncGenerator<string> {
  yield lineOf(columns);
  for (let line = 0; ; ) {
    const rows = await query(ctx.db).rows`select line, sheet, "row", entity_kind, source_type, source_id,
      display_name as name, left_out,
         case when action = 'conflict'
         or status = 'error' then coalesce(error_message, 'failed') end as reason
       from migration_records
       where migration_id = ${id} and line > ${line}
       and (action = 'conflict' or status = 'error' or left_out is not null)
       order by line limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    yield rows.map(linesOf).join('');
    line = rows.at(-1).line;
  }
}

interface RecordErrors {
  sheet: string | null;
  row: number | null;
  entity_kind: string;
  source_type: string;
  source_id: string;
  name: string | null;
  left_out: { field: string; message: string }[] | null;
  reason: string | null;
}

function linesOf({ left_out, reason, ...record }: RecordErrors): string {
  const { sheet, row, entity_kind, source_type, source_id, name } = record;
  const place = [sheet, row, entity_kind, source_type, source_id, name];
  const values = (left_out ?? []).map(({ field, message }) =>
    lineOf([...place, field, `left out: ${message}`]),
  );
  return [...(reason === null ? [] : [lineOf([...place, null, reason])]), ...values].join('');
}
