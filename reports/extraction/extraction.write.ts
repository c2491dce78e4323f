import type { Writable } from 'node:stream';
import type { Ctx } from '../../domain/context.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { cardCsv } from './extraction.cards.csv.ts';
import { cardTable } from './extraction.cards.ts';
import { relationColumns } from './extraction.columns.ts';
import { hierarchyTable } from './extraction.hierarchy.ts';
import { type ExtractionPlan, seesSomeCosts } from './extraction.plan.ts';
import { relationCsv } from './extraction.relations.csv.ts';
import { relationTable } from './extraction.relations.ts';
import type { Column, OnRows, Table } from './extraction.types.ts';
import { writeCsv } from './writers/csv.ts';
import { writeNdjson } from './writers/ndjson.ts';
import { writeXlsx } from './writers/xlsx.ts';

/** What a plan gives on a snapshot: how many rows each table has, and the way to write them, once. */
export interface Extraction {
  tables: { name: string; total: number }[];
  /** Ends the stream; destroys it on failure. */
  write(out: Writable, options: { signal?: AbortSignal; onRows?: OnRows }): Promise<void>;
}

/** Counts the rows of a plan on the snapshot and makes ready to write them. */
export async function prepareExtraction(
  snapshot: Snapshot,
  ctx: Ctx,
  plan: ExtractionPlan,
): Promise<Extraction> {
  const { request, cards, relationTypes, columns } = plan;
  if (request.format === 'csv') {
    const { neutralise } = request;
    const table =
      request.kind === 'relations'
        ? await relationCsv(snapshot, ctx, relationTypes, cards, columns, neutralise)
        : await cardCsv(snapshot, ctx, cards, columns, neutralise);
    return { tables: [table], write: (out, options) => writeCsv(table, out, options) };
  }
  const tables = await readTables(snapshot, ctx, plan);
  return {
    tables,
    write: (out, options) =>
      request.format === 'xlsx' ? writeXlsx(tables, out, options) : writeNdjson(tables[0]!, out, options),
  };
}

/** The tables of a plan, read from the snapshot. */
export async function readTables(snapshot: Snapshot, ctx: Ctx, plan: ExtractionPlan): Promise<Table[]> {
  const { request, cards, relationTypes } = plan;
  const relations = (columns: Column[]) => relationTable(snapshot, ctx, relationTypes, cards, columns);
  if (request.kind === 'relations') return [await relations(plan.columns)];
  const tables = [await cardTable(snapshot, ctx, cards, plan.columns)];
  if (request.include.includes('relations')) {
    const costs = await seesSomeCosts(ctx);
    tables.push(await relations(relationColumns(ctx, relationTypes, request.profile, costs)));
  }
  if (request.include.includes('hierarchy')) tables.push(await hierarchyTable(snapshot, ctx, cards));
  return tables;
}
