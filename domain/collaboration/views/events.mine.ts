import { embed, fragment } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { readableTypes, visibleData, visibleEvents } from '../../kernel/events/events.visible.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { textLiteral } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';

/** The ids of the cards that a user follows, as a query: those on which the user holds a role, and starred ones. */
function followed(userId: string): string {
  const user = `${textLiteral(userId)}::uuid`;
  return `select f.card_id from stakeholders f where f.user_id = ${user}
          union all select f.card_id from favorites f where f.user_id = ${user}`;
}

/** The events of the cards that the caller follows or has starred, and sees, newest first; of a relation at either end. */
export async function listMyCardEvents(ctx: Ctx, params: ListParams): Promise<JsonText> {
  const mine = `any (array(${followed(ctx.caller.userId!)}))`;
  const spec: ListSpec = {
    name: 'my-card-events',
    from: `events e join cards c on c.id = case when e.card_id = ${mine} then e.card_id else e.peer_card_id end
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
      data: visibleData(ctx),
      user_display_name: 'u.display_name',
      created_at: 'utc(e.at)',
    },
  };
  const rights: Condition = may(ctx.caller, 'inventory.view')
    ? visibleEvents(ctx)
    : fragment`e.scope = 'inventory' and e.relation_id is null ${embed(readableTypes(ctx.caller))}`;
  const conditions: Condition[] = [
    { sql: `e.card_id = ${mine} or e.peer_card_id = ${mine}`, bindings: [], visibility: true },
    { ...rights, visibility: true },
    visibleCards(ctx),
  ];
  return await runList(ctx, spec, conditions, params);
}
