import { embed, query } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { invisibleCardError, visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';

/** The tool of the batches in which runs of mappings write. */
export const SYNC_TOOL = 'itsm sync';

/**
 * The fields of a card that active mappings synchronise, with the connection, which side wins, and when a run last wrote
 * the field. None while the card has no record in the remote.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readCardSources(ctx: Ctx, id: string): Promise<JsonText> {
  const [text] = await query(ctx.db).column<JsonText>`
    with self as (select c.id from cards c where c.id = ${id}::uuid and (${embed(visibleCards(ctx))})),
    written as (
      select k.path, max(e.at) as at
      from self join events e on e.card_id = self.id join mutation_batches b on b.id = e.batch_id
        cross join lateral jsonb_object_keys(e.data -> 'changes') as k (path)
      where b.tool_name = ${SYNC_TOOL} and jsonb_typeof(e.data -> 'changes') = 'object'
      group by k.path)
    select json_build_object('items', coalesce((
      select json_agg(json_build_object('field', f.card_field, 'source', n.name, 'direction', f.direction,
          'written_at', utc(w.at)) order by f.card_field, n.name, m.id, f.position)
      from itsm_pairs p join itsm_mappings m on m.id = p.mapping_id
        join itsm_connections n on n.id = m.connection_id join itsm_field_mappings f on f.mapping_id = m.id
        left join written w on w.path = f.card_field
      where p.card_id = self.id and p.state = 'linked' and m.is_active and n.is_active), '[]'))::text
    from self`;
  if (text === undefined) throw invisibleCardError(ctx, notFound('card', id));
  return text;
}
