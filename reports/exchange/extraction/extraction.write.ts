import type { Writable } from 'node:stream';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column, OnRows, Table } from '../../kernel/formats/formats.types.ts';
import { writeCsv, writeNdjson } from '../../kernel/formats/lines.ts';
import { writeParquet } from '../../kernel/formats/parquet.ts';
import { writeXlsx } from '../../kernel/formats/xlsx.ts';
import { cardBinary } from './extraction.cards.binary.ts';
import { cardCsv } from './extraction.cards.csv.ts';
import { cardNdjson } from './extraction.cards.ndjson.ts';
import { cardTable } from './extraction.cards.ts';
import { relationColumns } from './extraction.columns.ts';
import { hierarchyTable } from './extraction.hierarchy.ts';
import { type ExtractionPlan, seesSomeCosts } from './extraction.plan.ts';
import { relationBinary, relationCsv, relationNdjson } from './extraction.relations.lines.ts';
import { relationTable } from './extraction.relations.ts';
import type { LineTable } from './extraction.rows.ts';

/** What a plan gives on a snapshot, and the way to write it, once. */
export interface Extraction {
  tables: { name: string; expected: number; columns: Column[] }[];
  /** Ends the stream; destroys it on failure. */
  write(out: Writable, options: { signal?: AbortSignal; onRows?: OnRows }): Promise<void>;
}

/** Makes a plan ready to be written from the snapshot, whose feed position is given. */
export async function prepareExtraction(
  snapshot: Snapshot,
  ctx: Ctx,
  asked: ExtractionPlan,
  position: string,
): Promise<Extraction> {
  const plan = await withChanges(snapshot, asked);
  const { format, after } = plan.request;
  if (format === 'csv') {
    const table = await csvLines(snapshot, ctx, plan);
    return { tables: [table], write: (out, options) => writeCsv(table, out, options) };
  }
  if (format === 'ndjson') {
    const table = await jsonLines(snapshot, ctx, plan);
    const end = after === undefined ? undefined : position;
    return { tables: [table], write: (out, options) => writeNdjson(table, out, { ...options, end }) };
  }
  if (format === 'parquet') {
    const table = await binaryTable(snapshot, ctx, plan);
    return { tables: [table], write: (out, options) => writeParquet(table, out, options) };
  }
  const tables = await readTables(snapshot, ctx, plan);
  return { tables, write: (out, options) => writeXlsx(tables, out, options) };
}

/** The plan with the statement that finds what has changed, where only that is wanted. */
async function withChanges(snapshot: Snapshot, plan: ExtractionPlan): Promise<ExtractionPlan> {
  const { request, cards, relations } = plan;
  const changes = await plan.changes?.(snapshot);
  if (!changes) return plan;
  return request.kind === 'cards'
    ? { ...plan, cards: { ...cards, ...changes } }
    : { ...plan, relations: { ...relations, ...changes } };
}

async function csvLines(snapshot: Snapshot, ctx: Ctx, plan: ExtractionPlan): Promise<LineTable> {
  const { request, cards, relations, columns } = plan;
  const { neutralise } = request;
  return request.kind === 'relations'
    ? await relationCsv(snapshot, ctx, relations, columns, neutralise)
    : await cardCsv(snapshot, ctx, cards, columns, neutralise);
}

async function jsonLines(snapshot: Snapshot, ctx: Ctx, plan: ExtractionPlan): Promise<LineTable> {
  const { request, cards, relations, columns } = plan;
  const whole = request.columns.length === 0;
  return request.kind === 'relations'
    ? await relationNdjson(snapshot, ctx, relations, columns, whole)
    : await cardNdjson(snapshot, ctx, cards, columns, whole);
}

async function binaryTable(snapshot: Snapshot, ctx: Ctx, plan: ExtractionPlan): Promise<LineTable> {
  const { request, cards, relations, columns } = plan;
  return request.kind === 'relations'
    ? await relationBinary(snapshot, ctx, relations, columns)
    : await cardBinary(snapshot, ctx, cards, columns);
}

/** The tables of a plan, read from the snapshot. */
export async function readTables(snapshot: Snapshot, ctx: Ctx, plan: ExtractionPlan): Promise<Table[]> {
  const { request, cards, relations } = plan;
  if (request.kind === 'relations') return [await relationTable(snapshot, ctx, relations, plan.columns)];
  const tables = [await cardTable(snapshot, ctx, cards, plan.columns)];
  if (request.include.includes('relations')) {
    const costs = await seesSomeCosts(ctx);
    const columns = relationColumns(ctx, relations.types, request.profile, costs);
    tables.push(await relationTable(snapshot, ctx, relations, columns));
  }
  if (request.include.includes('hierarchy')) tables.push(await hierarchyTable(snapshot, ctx, cards));
  return tables;
}
