import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column, Table } from '../../kernel/formats/formats.types.ts';
import { type RelationSelection, relationSource } from './extraction.relations.source.ts';
import { rowTable } from './extraction.tables.ts';

const BATCH = 4_000;

/** SQL of the values of relations by header. */
export const relationMembers: Record<string, string> = {
  id: 'r.id',
  type: 'r.type',
  source_id: 'r.source_id',
  source_external_id: 's.external_id',
  source_name: 's.name',
  source_type: 's.type',
  target_id: 'r.target_id',
  target_external_id: 't.external_id',
  target_name: 't.name',
  target_type: 't.type',
  description: 'r.description',
};

/** The relations of which both ends are among the selected cards, as a table. */
export async function relationTable(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: RelationSelection,
  columns: Column[],
): Promise<Table> {
  return await rowTable(
    snapshot,
    relationSource(ctx, selection),
    { members: relationMembers, joins: [], batch: BATCH },
    columns,
  );
}
