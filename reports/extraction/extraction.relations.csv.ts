import type { Ctx } from '../../domain/context.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import type { CardSelection } from './extraction.cards.ts';
import { type CsvTable, csvAttribute, csvText } from './extraction.csv.ts';
import { selectedRelations, visibleRelationAttributes } from './extraction.relations.ts';
import { numbered } from './extraction.sql.ts';
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
  const attributes = visibleRelationAttributes(ctx);
  const { from, where } = selectedRelations(ctx, types, selection);
  const cut = attributes.bindings.length > 0;
  const cells = columns.map(({ header }) => {
    if (header in plain) return plain[header]!;
    if (header in texts) return csvText(texts[header]!, guard);
    const key = header.slice('attributes.'.length);
    const fieldOf = (type: string) => ctx.metamodel.relationTypes.get(type)?.fields.get(key)?.type;
    return csvAttribute(cut ? 'cut.attributes' : 'r.attributes', 'r.type', types, key, fieldOf, guard);
  });
  const once = cut ? `cross join lateral (select ${attributes.sql} as attributes offset 0) cut` : '';
  const [{ n: total } = { n: 0 }] = await snapshot.query<{ n: number }>(
    numbered(`select count(*)::int as n from ${from} where ${where.sql}`),
    where.bindings,
  );
  return {
    name: 'Relations',
    columns,
    total,
    lines: snapshot.csv(`select ${cells.join(', ')} from ${from} ${once} where ${where.sql} order by r.id`, [
      ...attributes.bindings,
      ...where.bindings,
    ]),
  };
}
