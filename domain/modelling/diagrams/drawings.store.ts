import type { Knex } from 'knex';
import { sha256 } from '../../../platform/crypto.ts';
import type { Sql } from '../../../platform/database.ts';
import type { ReadDrawing } from './drawing.types.ts';

/** What is stored of a drawing, as far as its id goes. */
interface Fingerprinted {
  xml: string;
  card_ids: readonly string[];
  card_names: Record<string, string | null>;
}

/** The id of a drawing: the fingerprint of what it says, so that the same is kept once. */
export function drawingId({ xml, card_ids, card_names }: Fingerprinted): string {
  const names = Object.fromEntries(card_ids.map((id) => [id, card_names[id] ?? null]));
  return sha256(`${JSON.stringify(names)}\n${xml}`);
}

/**
 * Stores a drawing with the names that its cards have at present; of a card that is gone, the name that the drawing
 * before knew.
 * @returns its fingerprint.
 */
export async function storeDrawing(
  sql: Knex.Transaction,
  { xml, ids, marked }: ReadDrawing,
  before: string | null,
): Promise<string> {
  const names: Record<string, string | null> = Object.fromEntries(ids.map((id) => [id, null]));
  if (ids.length > 0) {
    const { rows } = await sql.raw(
      `select r.id, coalesce(c.name, (select w.card_names ->> r.id::text from diagram_drawings w where w.id = ?)) as name
       from unnest(?::uuid[]) r(id) left join cards c on c.id = r.id`,
      [before, ids] as never,
    );
    for (const { id, name } of rows) names[id] = name;
  }
  const id = drawingId({ xml, card_ids: ids, card_names: names });
  await sql('diagram_drawings')
    .insert({ id, xml, card_ids: ids, card_names: JSON.stringify(names), marked })
    .onConflict('id')
    .merge({ left_at: null });
  return id;
}

/** Removes drawings that no diagram has shown for so many days, in which a batch could have brought them back. */
export async function removeLeftDrawings(sql: Sql, days: number, batch: number): Promise<number> {
  const shown = 'exists (select from diagrams d where d.drawing = w.id)';
  await sql.raw(`update diagram_drawings w set left_at = null where left_at is not null and ${shown}`);
  await sql.raw(`update diagram_drawings w set left_at = now() where left_at is null and not ${shown}`);
  const { rowCount } = await sql.raw(
    `delete from diagram_drawings where id in (
       select id from diagram_drawings w where left_at < now() - make_interval(days => ?) and not ${shown}
       order by left_at limit ? for update skip locked)`,
    [days, batch],
  );
  return rowCount as number;
}
