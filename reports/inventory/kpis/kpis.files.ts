import type { Readable } from 'node:stream';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { embed, fragment, joinFragments } from '../../../platform/database.ts';
import { type Snapshot, withSnapshot } from '../../../platform/snapshot.ts';
import { startStream } from '../../kernel/formats/chunk-streams.ts';
import type { Column, Table } from '../../kernel/formats/formats.types.ts';
import { statementTable, type TableFormat, writeTables } from '../../kernel/report.formats.ts';
import { type KpiPeriod, kpiConditions, kpiRows } from './kpis.snapshots.ts';

/** Figures with a breakdown; each part is a separate column. */
const parted = ['by_type', 'approval_statuses', 'data_quality_distribution', 'lifecycle_distribution'];

interface KpiColumn extends Column {
  /** SQL of the cells. */
  sql: string;
  bindings?: string[];
}

/** The key figures of a period, the oldest first. */
async function tableOf(snapshot: Snapshot, period: KpiPeriod): Promise<Table> {
  const rows = rowsOf(period);
  const columns = await columnsOf(snapshot, rows);
  const cells = columns.map((column) => ({ sql: column.sql, bindings: column.bindings ?? [] }));
  const statement = fragment`select ${embed(joinFragments(cells, ', '))} ${embed(rows)} order by k.slot`;
  return statementTable(snapshot, { name: 'kpis', columns }, statement);
}

/** Passes the key figures of a period as a table to `use`, from one snapshot. */
export async function withKpiTable(
  { db }: Pick<Services, 'db'>,
  period: KpiPeriod,
  use: (table: Table) => Promise<void>,
): Promise<void> {
  await withSnapshot(db, async (snapshot) => await use(await tableOf(snapshot, period)));
}

/**
 * Starts to write the key figures of a period, the oldest first, from one snapshot; see {@link startStream}.
 */
export async function streamKpiFile(
  services: Services,
  { caller }: Ctx,
  period: KpiPeriod,
  format: TableFormat,
): Promise<Readable> {
  return await startStream(caller, (out, start) =>
    withKpiTable(services, period, async (table) => {
      start(out);
      await writeTables(format, [table], out);
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
