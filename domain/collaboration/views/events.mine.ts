import { embed, fragment } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { readableTypes, visibleData, visibleEvents } from '../../kernel/events/events.visible.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { Condition } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';

/** SQL of whether a column is the id of a card that the caller follows: where they hold a role, or a starred one. */
function isFollowed({ caller }: Ctx, column: string): string {
  const user = `${textLiteral(caller.userId!)}::uuid`;
  return `${column} = any (array(select f.card_id from stakeholders f where f.user_id = ${user}
          union all select f.card_id from favorites f where f.user_id = ${user}))`;
}

/** The events of the cards that the caller follows or has starred, and sees, newest first; of a relation at either end. */
export const myCardEventList = defineList({
  name: 'my-card-events',
  from: (ctx) => `events e
    join cards c on c.id = case when ${isFollowed(ctx, 'e.card_id')} then e.card_id else e.peer_card_id end
    left join users u on u.id = e.user_id`,
  id: 'e.position',
  idType: 'bigint',
  sorts: { position: { sql: 'e.position', type: 'bigint', immutable: true } },
  defaultSort: 'position',
  defaultDir: 'desc',
  members: {
    id: 'e.id',
    position: 'e.position::text',
    card_id: 'c.id',
    card_name: 'c.name',
    event_type: 'e.event_type',
    data: visibleData,
    user_display_name: 'u.display_name',
    created_at: 'utc(e.at)',
  },
  where(ctx) {
    const rights: Condition = may(ctx.caller, 'inventory.view')
      ? visibleEvents(ctx)
      : fragment`e.scope = 'inventory' and e.relation_id is null ${embed(readableTypes(ctx.caller))}`;
    const sql = `${isFollowed(ctx, 'e.card_id')} or ${isFollowed(ctx, 'e.peer_card_id')}`;
    return [{ sql, bindings: [], visibility: true }, { ...rights, visibility: true }, visibleCards(ctx)];
  },
});
