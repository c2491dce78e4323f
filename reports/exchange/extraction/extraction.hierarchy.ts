import type { Ctx } from '../../../domain/kernel/context.ts';
import { joinPath } from '../../../domain/kernel/transfer/csv-cells.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Cell, Column, Table } from '../../kernel/formats/formats.types.ts';
import { type CardSelection, selectedCards } from './extraction.cards.ts';

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
export async function hierarchyTable(
  snapshot: Snapshot,
  ctx: Ctx,
  selection: CardSelection,
): Promise<Table & { expected: number }> {
  const cards = selectedCards(ctx, selection);
  const inHierarchy = `${cards.sql} and (c.parent_id is not null or exists (select from cards k where k.parent_id = c.id))`;
  const [{ n: total } = { n: 0 }] = await snapshot.query<{ n: number }>(
    `select count(*)::int as n from cards c where ${inHierarchy}`,
    cards.bindings,
  );
  const rows = snapshot.batches(
    `with recursive tree as (
        select c.id, c.type, c.name, 1 as level, array[c.name] as path, c.parent_id from cards c
        where c.parent_id is null and exists (select from cards k where k.parent_id = c.id)
        union all
        select c.id, c.type, c.name, tree.level + 1, tree.path || c.name, c.parent_id
        from cards c join tree on c.parent_id = tree.id where tree.level < 50)
      select tree.id, tree.type, tree.name, tree.level, tree.path, tree.parent_id,
             (select count(*)::int from cards k where k.parent_id = tree.id)
      from tree join cards c on c.id = tree.id where ${inHierarchy}
      order by tree.type, tree.path`,
    cards.bindings,
    BATCH,
  );
  return { name: 'Hierarchy', columns, expected: total, batches: shaped(rows) };
}

async function* shaped(batches: AsyncIterable<unknown[][]>): AsyncGenerator<Cell[][]> {
  for await (const rows of batches) {
    yield rows.map((row) => row.map((value, n) => (n === 4 ? joinPath(value as string[]) : (value as Cell))));
  }
}
