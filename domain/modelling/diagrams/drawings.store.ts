import type { Knex } from 'knex';
import { sha256 } from '../../../platform/crypto.ts';
import { queryRows, type Sql } from '../../../platform/database.ts';
import type { RowOf } from '../../kernel/resources/rows.ts';
import type { Drawing } from './diagrams.model.ts';
import type { ReadDrawing } from './drawing.types.ts';

/** The id of a drawing: a hash of its content, so that equal drawings are stored once. */
export function drawingId({
  xml,
  card_ids,
  card_names,
}: Pick<RowOf<typeof Drawing>, 'xml' | 'card_ids' | 'card_names'>): string {
  const names = Object.fromEntries(card_ids.map((id) => [id, card_names[id] ?? null]));
  return sha256(`${JSON.stringify(names)}\n${xml}`);
}

/**
 * Stores a drawing with the current names of its cards; a deleted card keeps the name that it has in the drawing before.
 * @returns the id of the drawing.
 */
export async function storeDrawing(
  sql: Knex.Transaction,
  { xml, ids, marked }: ReadDrawing,
  before: string | null,
): Promise<string> {
  const names: Record<string, string | null> = Object.fromEntries(ids.map((id) => [id, null]));
  if (ids.length > 0) {
    const cards = await queryRows<{ id: string; name: string | null }>(
      sql,
      `select r.id, coalesce(c.name, (select w.card_names ->> r.id::text from diagram_drawings w where w.id = ?)) as name
       from unnest(?::uuid[]) r(id) left join cards c on c.id = r.id`,
      [before, ids],
    );
    for (const { id, name } of cards) names[id] = name;
  }
  const id = drawingId({ xml, card_ids: ids, card_names: names });
  await sql('diagram_drawings')
    .insert({ id, xml, card_ids: ids, card_names: JSON.stringify(names), marked })
    .onConflict('id')
    .merge({ left_at: null });
  return id;
}

/** Deletes drawings that no diagram has used for this number of days; until then a rollback may restore such a diagram. */
export async function deleteUnusedDrawings(sql: Sql, days: number, batch: number): Promise<number> {
  const used = 'exists (select from diagrams d where d.drawing = w.id)';
  await sql.raw(`update diagram_drawings w set left_at = null where left_at is not null and ${used}`);
  await sql.raw(`update diagram_drawings w set left_at = now() where left_at is null and not ${used}`);
  const { rowCount } = await sql.raw(
    `delete from diagram_drawings where id in (
       select id from diagram_drawings w where left_at < now() - make_interval(days => ?) and not ${used}
       order by left_at limit ? for update skip locked)`,
    [days, batch],
  );
  return rowCount as number;
}
