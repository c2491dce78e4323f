import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { binaryRows } from './extraction.binary.ts';
import { csvMembers, csvTable } from './extraction.csv.ts';
import { jsonTable, membersOf } from './extraction.ndjson.ts';
import { type RelationSelection, relationSource } from './extraction.relations.source.ts';
import { relationMembers } from './extraction.relations.ts';
import type { LineTable } from './extraction.rows.ts';

/** Cells that hold no text which could be calculated, nor one to be escaped. */
const plain: Record<string, string> = {
  id: 'r.id',
  source_id: 'r.source_id',
  target_id: 'r.target_id',
};

const keys: Record<string, string> = {
  type: 'r.type',
  source_type: 's.type',
  target_type: 't.type',
};

const texts: Record<string, string> = {
  source_external_id: 's.external_id',
  source_name: 's.name',
  target_external_id: 't.external_id',
  target_name: 't.name',
  description: 'r.description',
};

const csvCells = {
  ...csvMembers('id', plain),
  ...csvMembers('plain', keys),
  ...csvMembers('text', texts),
};

/** The relations of which both ends are among the selected cards, as lines of CSV. */
export async function relationCsv(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: RelationSelection,
  columns: Column[],
  guard: boolean,
): Promise<LineTable> {
  const cells = { members: csvCells, joins: [] };
  return await csvTable(snapshot, relationSource(ctx, selection), cells, columns, guard);
}

const members = { ...membersOf('id', plain), ...membersOf('text', { ...keys, ...texts }) };

/** The same as lines of JSON. */
export async function relationNdjson(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: RelationSelection,
  columns: Column[],
  whole: boolean,
): Promise<LineTable> {
  const source = relationSource(ctx, selection);
  return await jsonTable(snapshot, source, { members, joins: [] }, columns, whole);
}

/** The same as the database has them. */
export async function relationBinary(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: RelationSelection,
  columns: Column[],
): Promise<LineTable> {
  const values = { members: relationMembers, joins: [] };
  return await binaryRows(snapshot, relationSource(ctx, selection), values, columns);
}
