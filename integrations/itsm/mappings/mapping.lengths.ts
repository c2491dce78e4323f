import { localField } from '../../../domain/exchange/itsm/mappings.paths.ts';
import type { MappingRow } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { RemoteColumn } from '../connectors/connector.ts';
import { columnOf, type RemoteProblem } from './mapping.remote.ts';

/** Columns that are shorter than texts that cards hold: the remote would cut them, and they would never agree. */
export async function longTexts(
  { db, metamodel }: Ctx,
  { card_type_key, fields, sync_direction }: MappingRow,
  columns: readonly RemoteColumn[],
): Promise<RemoteProblem[]> {
  const type = metamodel.cardTypes.get(card_type_key);
  if (!type || sync_direction === 'pull') return [];
  const bounded = fields.flatMap((row, index) => {
    const max = columnOf(columns, row.remote_field)?.maxLength ?? null;
    const isText = localField(type, row.card_field)?.kind === 'text' && row.transform_type === 'direct';
    return isText && max !== null ? [{ index, path: row.card_field, max }] : [];
  });
  if (bounded.length === 0) return [];
  const { rows } = await db.raw(
    `select b.index, count(*) as count from jsonb_to_recordset(?::jsonb) as b(index int, path text, max int)
     join cards c on c.type = ? and c.status = 'ACTIVE' and length(case b.path when 'name' then c.name
       when 'alias' then c.alias when 'description' then c.description when 'external_id' then c.external_id
       else c.attributes ->> substr(b.path, length('attributes.') + 1) end) > b.max
     group by b.index order by b.index`,
    [JSON.stringify(bounded), card_type_key],
  );
  return rows.map(({ index, count }: { index: number; count: number }) => ({
    level: 'warning',
    field: `field_mappings.${index}.remote_field`,
    code: 'too_short',
    message: `takes ${bounded.find((one) => one.index === index)!.max} characters; the texts of ${count} cards are longer and would be cut`,
  }));
}
