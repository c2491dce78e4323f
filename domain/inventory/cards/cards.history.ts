import { queryRows } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { readableTypes } from '../../kernel/events/events.readable.ts';
import { visibleData, visibleEvents } from '../../kernel/events/events.visible.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { unseenCard, visibleCards } from './cards.visible.ts';
import { withMerged } from './merge/merge.redirect.ts';

const historyList: ListSpec = {
  name: 'card-history',
  from: 'events e left join users u on u.id = e.user_id',
  id: 'e.position',
  idType: 'bigint',
  sorts: { position: { sql: 'e.position', type: 'bigint', immutable: true } },
  defaultSort: 'position',
  defaultDir: 'desc',
  members: {
    id: 'e.id',
    position: 'e.position::text',
    event_type: 'e.event_type',
    data: 'e.data',
    relation_id: 'e.relation_id',
    batch_id: 'e.batch_id',
    user_id: 'e.user_id',
    user_display_name: 'u.display_name',
    origin: 'e.origin',
    request_id: 'e.request_id',
    created_at: 'utc(e.at)',
  },
};

/**
 * The events of one card, newest first, with those of its relations, at whichever end it stands, of what is shown on
 * several cards, such as risks, and those of cards that were merged into it. The history of a deleted card is kept for those who may read the audit log.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function listCardHistory(ctx: Ctx, id: string, params: ListParams): Promise<JsonText> {
  const ids = await withMerged(ctx.db, id);
  const ofCard: Condition = {
    sql: `(e.card_id = any(?::uuid[]) or e.peer_card_id = any(?::uuid[])
      or (e.data \\? 'card_ids' and e.data -> 'card_ids' \\?| ?::text[]))`,
    bindings: [ids, ids, ids],
  };
  const visible = visibleCards(ctx);
  const rows = await queryRows<{ seen: boolean; present: boolean; known: boolean }>(
    ctx.db,
    `select exists (select from cards c where c.id = ?::uuid and (${visible.sql})) as seen,
            exists (select from cards c where c.id = ?::uuid) as present,
            exists (select from events e where ${ofCard.sql}) as known`,
    [id, ...visible.bindings, id, ...ofCard.bindings],
  );
  const { seen, present, known } = rows[0]!;
  const tombstone = !present && known && may(ctx.caller, 'admin.events');
  if (!seen && !tombstone) throw unseenCard(ctx, notFound('card', id));

  const rights: Condition = may(ctx.caller, 'inventory.view')
    ? visibleEvents(ctx)
    : { sql: `e.scope = 'inventory' and e.relation_id is null ${readableTypes(ctx.caller)}`, bindings: [] };
  const spec = { ...historyList, members: { ...historyList.members, data: visibleData(ctx) } };
  return await runList(ctx.db, spec, [ofCard, { ...rights, visibility: true }], params, {
    owner: ctx.caller.userId,
  });
}
