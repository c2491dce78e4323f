import type { Writable } from 'node:stream';
import type { ReportFormat } from '../../../domain/exchange/exports/report.options.ts';
import { type Fragment, sql } from '../../../domain/inventory/filters/filters.sql.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { snapshotPosition } from '../../exchange/extraction/extraction.plan.ts';
import type { Column, Table } from '../../kernel/formats/formats.types.ts';
import { writeCsv } from '../../kernel/formats/lines.ts';
import { pump } from '../../kernel/formats/pump.ts';
import { writeXlsx } from '../../kernel/formats/xlsx.ts';
import { type CompiledQuery, compileQuery } from './query.compile.ts';
import type { QueryPlan } from './query.plan.ts';
import { describeColumns, guardStatement } from './query.run.ts';

const BATCH = 1_000;

/** The forms that hold every group. */
export type TableFormat = Exclude<ReportFormat, 'svg'>;

export interface WriteOptions {
  signal?: AbortSignal;
  /** Whether a heavy query is refused before it begins. */
  guarded: boolean;
}

/** All groups of a query, about to be written. */
export interface PreparedQuery {
  /** The feed position that the numbers include. */
  position: string;
  columns: string[];
  /** Writes them and ends the stream. @returns how many they are. */
  write(out: Writable): Promise<number>;
}

const selected = ({ groups, order }: CompiledQuery, list: string): Fragment =>
  sql`${groups} select ${{ sql: list, bindings: [], total: false }} from h${order}`;

/**
 * Prepares a file of all groups from one snapshot; memory holds some of them.
 * @throws EstateError `query_too_heavy`.
 */
export async function prepareQueryFile(
  snapshot: Snapshot,
  ctx: Ctx,
  plan: QueryPlan,
  format: TableFormat,
  options: WriteOptions,
): Promise<PreparedQuery> {
  const compiled = compileQuery(plan);
  const cells = compiled.outputs;
  if (options.guarded) await guardStatement(snapshot, selected(compiled, cells.join(', ')));
  const position = await snapshotPosition(snapshot);
  const described = await describeColumns(ctx.db, plan);
  const columns: Column[] = plan.columns.map(({ name, type, unit }) => ({
    header: name,
    type,
    ...(unit === 'currency' ? { money: true } : {}),
  }));
  let rows = 0;
  const count = (more: number) => {
    rows += more;
  };
  const table = (name: string): Table => {
    const { sql: text, bindings } = selected(compiled, cells.join(', '));
    return { name, columns, batches: snapshot.batches(text, bindings, BATCH) as Table['batches'] };
  };

  const writers: Record<TableFormat, (out: Writable) => Promise<void>> = {
    async csv(out) {
      await writeCsv(table('query'), out, { ...options, onRows: count });
    },
    async xlsx(out) {
      await writeXlsx([table('Query')], out, { ...options, onRows: count });
    },
    async json(out) {
      const { sql: text, bindings } = selected(compiled, `json_build_array(${cells.join(', ')})::text`);
      const items = snapshot.batches(text, bindings, BATCH) as AsyncIterable<string[][]>;
      async function* chunks(): AsyncGenerator<string> {
        yield `{"columns":${JSON.stringify(described)},"rows":[`;
        for await (const batch of items) {
          yield `${rows > 0 ? ',' : ''}${batch.map(([item]) => item).join(',')}`;
          count(batch.length);
        }
        yield `],"total_groups":${rows},"position":${JSON.stringify(position)}}`;
      }
      await pump(chunks(), out, options.signal);
    },
  };
  return {
    position,
    columns: columns.map(({ header }) => header),
    async write(out) {
      await writers[format](out);
      return rows;
    },
  };
}
