import type { Readable } from 'node:stream';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { startStream } from '../../kernel/formats/chunk-streams.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { statementTable, type TableFormat, writeTables } from '../../kernel/report.formats.ts';
import { type KpiPeriod, kpiConditions, kpiRows } from './kpis.snapshots.ts';

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
  format: TableFormat,
): Promise<Readable> {
  return await startStream(caller, (out, start) =>
    withSnapshot(db, async (snapshot) => {
      const rows = rowsOf(period);
      const columns = await columnsOf(snapshot, rows);
      start(out);
      const cells = columns.map((column) => ({ sql: column.sql, bindings: column.bindings ?? [] }));
      const statement = fragment`select ${embed(joinFragments(cells, ', '))} ${embed(rows)} order by k.slot`;
      await writeTables(format, [statementTable(snapshot, { name: 'kpis', columns }, statement)], out);
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
