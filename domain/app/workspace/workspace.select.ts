import type { TableShape } from './transfer.stage.ts';
import type { ContentTable } from './workspace.types.ts';

/** Orders text by its bytes, so that files are the same whatever the database's locale. */
const inOrder = (table: ContentTable, { types }: TableShape): string =>
  table.key.map((column) => `t.${column}${types[column] === 'text' ? ' collate "C"' : ''}`).join(', ');

const isActive = (card: string): string =>
  `exists (select from cards c where c.id = ${card} and c.status = 'ACTIVE')`;

/**
 * The query for a table's rows, one JSON text each, in a stable order. Without archived cards, rows that depend on them
 * are omitted as well, and other references to them are null.
 */
export function selectRows(table: ContentTable, shape: TableShape, includeArchived: boolean): string {
  const active = includeArchived ? () => 'true' : isActive;
  const where = [table.where?.(active) ?? 'true'];
  const cleared = new Map<string, string>();
  if (!includeArchived) {
    if (table.table === 'cards') where.push(`t.status = 'ACTIVE'`);
    for (const { column, table: other, onDelete } of shape.references) {
      if (other !== 'cards') continue;
      const shown = active(`t.${column}`);
      // An import would refuse a reference to a missing row.
      if (onDelete === 'n' || table.table === 'cards') {
        cleared.set(column, `case when ${shown} then t.${column} end`);
      } else where.push(`t.${column} is null or ${shown}`);
    }
  }
  const columns = shape.columns.map((column) => `${cleared.get(column) ?? `t.${column}`} as ${column}`);
  return `select row_to_json(x)::text from (select ${columns.join(', ')} from ${table.table} t
    where ${where.map((condition) => `(${condition})`).join(' and ')} order by ${inOrder(table, shape)}) x`;
}
