import type { Writable } from 'node:stream';
import { LISTS_SHEET } from '../../../domain/exchange/imports/imports.read-xlsx.ts';
import { MAX_DEPTH } from '../../../domain/inventory/cards/cards.tree.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { joinPath } from '../../../domain/kernel/transfer/csv-cells.ts';
import { embed, fragment } from '../../../platform/database.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { readTable } from '../../kernel/formats/binary-rows.ts';
import type { BinaryTable, Cell, Column, Table, WriteOptions } from '../../kernel/formats/formats.types.ts';
import { writeCsv, writeNdjson } from '../../kernel/formats/lines.ts';
import { writeParquet } from '../../kernel/formats/parquet.ts';
import { writeXlsx } from '../../kernel/formats/xlsx.ts';
import { type ExtractionPlan, isWorkbook, relationColumns, seesSomeCosts } from './extraction.plan.ts';
import {
  type CardSelection,
  cardSource,
  costSource,
  flowSource,
  readRows,
  relationSource,
  selectedCards,
  visible,
} from './extraction.rows.ts';
import { workbookTables } from './workbook.ts';

/** The tables of a plan on a snapshot, to be written once. */
export interface Extraction {
  tables: Pick<BinaryTable, 'name' | 'expected' | 'columns'>[];
  /** Ends the stream; destroys it on failure. */
  write(out: Writable, options: WriteOptions): Promise<void>;
}

/** Prepares a plan to be written from the snapshot, whose feed position is given. */
export async function prepareExtraction(
  snapshot: Snapshot,
  ctx: Ctx,
  plan: ExtractionPlan,
  position: string,
): Promise<Extraction> {
  const { request, columns } = plan;
  if (isWorkbook(request)) return await prepareWorkbook(snapshot, ctx, plan);
  const { format, after, neutralise, bom } = request;
  const isAll =
    format === 'ndjson' &&
    request.columns.length === 0 &&
    (request.kind === 'cards' || request.kind === 'relations');
  const table = await readTableOf(snapshot, ctx, plan, isAll ? withWholeAttributes(columns) : columns);
  const tables = [{ ...table, columns }];
  const writeWith = (write: Extraction['write']): Extraction => ({ tables, write });
  switch (format) {
    case 'csv':
      return writeWith((out, options) => writeCsv(table, out, { ...options, neutralise, bom }));
    case 'ndjson': {
      const end = after === undefined ? undefined : position;
      return writeWith((out, options) => writeNdjson(table, out, { ...options, end }));
    }
    case 'parquet':
      return writeWith((out, options) => writeParquet(table, out, options));
    case 'xlsx': {
      const { cards, relations } = plan;
      if (request.include.includes('relations')) {
        const all = relationColumns(ctx, relations.types, request.profile, await seesSomeCosts(ctx));
        tables.push(await readRows(snapshot, relationSource(ctx, relations), all));
      }
      const hierarchy = request.include.includes('hierarchy')
        ? [await hierarchyTable(snapshot, ctx, cards)]
        : [];
      const sheets = tables.map(readTable);
      return {
        tables: [...tables, ...hierarchy],
        write: (out, options) => writeXlsx([...sheets, ...hierarchy], out, options),
      };
    }
  }
}

async function prepareWorkbook(snapshot: Snapshot, ctx: Ctx, plan: ExtractionPlan): Promise<Extraction> {
  const tables = await workbookTables(snapshot, ctx, plan);
  const hierarchy = plan.request.include.includes('hierarchy')
    ? [await hierarchyTable(snapshot, ctx, plan.cards)]
    : [];
  return {
    tables: [...tables, ...hierarchy],
    write: (out, options) =>
      writeXlsx([...tables.map(readTable), ...hierarchy], out, { ...options, listsSheet: LISTS_SHEET }),
  };
}

/** The columns with one for all attributes, which NDJSON writes as they are stored. */
function withWholeAttributes(columns: Column[]): Column[] {
  const others = columns.filter(({ header }) => !header.startsWith('attributes.'));
  return [...others, { header: 'attributes', type: 'json' }];
}

async function readTableOf(
  snapshot: Snapshot,
  ctx: Ctx,
  { request, cards, relations, order, findChanged }: ExtractionPlan,
  columns: Column[],
): Promise<BinaryTable> {
  const changed = await findChanged?.(snapshot);
  if (request.kind === 'costs')
    return await readRows(snapshot, costSource(ctx, cards, relations, changed), columns);
  if (request.kind === 'data_flows')
    return await readRows(snapshot, flowSource(ctx, cards, changed), columns);
  const source =
    request.kind === 'cards'
      ? cardSource(ctx, changed ? { ...cards, changed } : cards)
      : relationSource(ctx, changed ? { ...relations, changed } : relations);
  return await readRows(snapshot, order ? { ...source, order } : source, columns);
}

const BATCH = 4_000;

const columns: Column[] = [
  { header: 'id', type: 'text' },
  { header: 'type', type: 'text' },
  { header: 'name', type: 'text' },
  { header: 'level', type: 'number' },
  { header: 'path', type: 'text' },
  { header: 'parent_id', type: 'text' },
  { header: 'children', type: 'number' },
];

/** Every selected card that has a parent or children, with level (root = 1) and path, by type and path. */
async function hierarchyTable(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
): Promise<Table & { expected: number }> {
  const all = visible(ctx);
  const inHierarchy = embed(fragment`${embed(selectedCards(ctx, selection))}
    and (exists (select from ${all} p where p.id = c.parent_id) or exists (select from ${all} k where k.parent_id = c.id))`);
  const count = fragment`select count(*)::int as n from cards c where ${inHierarchy}`;
  const [{ n: total } = { n: 0 }] = await snapshot.query<{ n: number }>(count.sql, count.bindings);
  const tree = fragment`with recursive tree as (
        select c.id, c.type, c.name, 1 as level, array[c.name] as path, c.parent_id from ${all} c
        where not exists (select from ${all} p where p.id = c.parent_id)
          and exists (select from ${all} k where k.parent_id = c.id)
        union all
        select c.id, c.type, c.name, tree.level + 1, tree.path || c.name, c.parent_id
        from ${all} c join tree on c.parent_id = tree.id where tree.level < ${embed(MAX_DEPTH)})
      select tree.id, tree.type, tree.name, tree.level, tree.path, tree.parent_id,
             (select count(*)::int from ${all} k where k.parent_id = tree.id)
      from tree join cards c on c.id = tree.id where ${inHierarchy}
      order by tree.type, tree.path`;
  const rows = snapshot.batches(tree.sql, tree.bindings, BATCH);
  return { name: 'Hierarchy', columns, expected: total, batches: shaped(rows) };
}

async function* shaped(batches: AsyncIterable<unknown[][]>): AsyncGenerator<Cell[][]> {
  for await (const rows of batches) {
    yield rows.map((row) => row.map((value, n) => (n === 4 ? joinPath(value as string[]) : (value as Cell))));
  }
}
