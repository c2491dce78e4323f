import type { Readable, Writable } from 'node:stream';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import type { Column, Table } from '../../kernel/formats/formats.types.ts';
import { writeCsv } from '../../kernel/formats/lines.ts';
import { startStream } from '../../kernel/formats/pump.ts';
import { writeXlsx } from '../../kernel/formats/xlsx.ts';
import { type KpiPeriod, kpiConditions, kpiRows } from './kpis.snapshots.ts';

const BATCH = 1_000;

/** Figures with a breakdown; each part is a separate column. */
const parted = ['by_type', 'approval_statuses', 'data_quality_distribution', 'lifecycle_distribution'];

interface KpiColumn extends Column {
  /** SQL of the cells. */
  sql: string;
  bindings?: string[];
}

/**
 * Starts to write the key figures of a period, the oldest first, from one snapshot; see {@link startStream}.
 */
export async function streamKpiFile(
  { db }: Services,
  { caller }: Ctx,
  period: KpiPeriod,
  format: 'csv' | 'xlsx',
): Promise<Readable> {
  return await startStream(caller, (out, start) =>
    withSnapshot(db, async (snapshot) => {
      const rows = rowsOf(period);
      const columns = await columnsOf(snapshot, rows);
      start(out);
      await write(snapshot, rows, columns, format, out);
    }),
  );
}

/** The rows of the period, from `from` on. */
function rowsOf(period: KpiPeriod): Fragment {
  const conditions = joinFragments([fragment`true`, ...kpiConditions(period)], ' and ');
  return fragment`from ${embed(kpiRows(period.every))} where ${embed(conditions)}`;
}

/** Columns of all figures in any snapshot of the period, including deleted types. */
async function columnsOf(snapshot: Snapshot, rows: Fragment): Promise<KpiColumn[]> {
  const found = await snapshot.query<{ part: string; key: string }>(
    `select p.part, key from (select k.metrics ${rows.sql}) m,
         unnest(array['${parted.join("','")}']) with ordinality p(part, place),
         lateral jsonb_object_keys(m.metrics -> p.part) key
       group by p.part, p.place, key order by p.place, key`,
    rows.bindings,
  );
  const time = (header: string): KpiColumn => ({ header, type: 'datetime', sql: `utc(k.${header})` });
  const figure = (header: string): KpiColumn => ({
    header,
    type: 'number',
    sql: `(k.metrics ->> '${header}')::float8`,
  });
  return [
    time('slot'),
    time('taken_at'),
    { header: 'position', type: 'key', sql: 'k.position::text' },
    figure('total_cards'),
    figure('avg_data_quality'),
    ...found.map(
      ({ part, key }): KpiColumn => ({
        header: `${part}.${key}`,
        type: 'number',
        sql: `(k.metrics -> '${part}' ->> ?)::float8`,
        bindings: [key],
      }),
    ),
  ];
}

async function write(
  snapshot: Snapshot,
  rows: Fragment,
  columns: KpiColumn[],
  format: 'csv' | 'xlsx',
  out: Writable,
): Promise<void> {
  const cells = columns.map((column) => ({ sql: column.sql, bindings: column.bindings ?? [] }));
  const { sql, bindings } =
    fragment`select ${embed(joinFragments(cells, ', '))} ${embed(rows)} order by k.slot`;
  const batches = snapshot.batches(sql, bindings, BATCH) as Table['batches'];
  const table = { name: 'kpis', columns, batches };
  if (format === 'csv') await writeCsv(table, out, {});
  else await writeXlsx([table], out, {});
}
