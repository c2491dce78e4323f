import type { Ctx } from '../../domain/context.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import type { CardSelection } from './extraction.cards.ts';
import { type CsvSource, type CsvTable, csvTable } from './extraction.csv.ts';
import { selectedRelations, visibleRelationAttributes } from './extraction.relations.ts';
import type { Column } from './extraction.types.ts';

/** Cells that hold no text which could be calculated. */
const plain: Record<string, string> = {
  id: 'r.id',
  type: 'r.type',
  source_id: 'r.source_id',
  source_type: 's.type',
  target_id: 'r.target_id',
  target_type: 't.type',
};

const texts: Record<string, string> = {
  source_external_id: 's.external_id',
  source_name: 's.name',
  target_external_id: 't.external_id',
  target_name: 't.name',
  description: 'r.description',
};

/** The relations of which both ends are among the selected cards, as lines of CSV. */
export async function relationCsv(
  snapshot: Snapshot,
  ctx: Ctx,
  types: string[],
  selection: CardSelection,
  columns: Column[],
  guard: boolean,
): Promise<CsvTable> {
  const source: CsvSource = {
    name: 'Relations',
    row: 'r',
    plain,
    texts,
    attributes: visibleRelationAttributes(ctx),
    types,
    fieldOf: (type, key) => ctx.metamodel.relationTypes.get(type)?.fields.get(key)?.type,
    ...selectedRelations(ctx, types, selection),
    joins: [],
  };
  return await csvTable(snapshot, source, columns, guard);
}
