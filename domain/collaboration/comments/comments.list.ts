import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireSeenCard } from '../attended.card.ts';

/** Comments over the alias `t`, each with all replies below it. */
export const commentList: ListSpec = {
  name: 'comments',
  from: 'comments t left join users u on u.id = t.user_id',
  id: 't.id',
  idType: 'uuid',
  sorts: { created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true } },
  defaultSort: 'created_at',
  defaultDir: 'asc',
  search: 'fold(t.content)',
  members: {
    id: 't.id',
    card_id: 't.card_id',
    user_id: 't.user_id',
    user_display_name: "coalesce(u.display_name, '')",
    content: 't.content',
    mentions: 't.mentions',
    parent_id: 't.parent_id',
    is_deleted: 't.deleted_at is not null',
    created_at: 'utc(t.created_at)',
    updated_at: 'utc(t.updated_at)',
    replies: 'comment_replies(t.id)',
  },
};

/** The threads of a card, oldest first, each with all its replies. @throws EstateError `forbidden`, `not_found`. */
export async function listComments(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'comments.view');
  const card = await requireSeenCard(ctx.db, ctx, cardId);
  const threads: Condition = { sql: 't.card_id = ?::uuid and t.parent_id is null', bindings: [card.id] };
  return await runList(ctx.db, commentList, [threads], params, { owner: ctx.caller.userId });
}
