import { fragment } from '../../../platform/database.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { Comment } from '../collaboration.model.ts';

export const commentSorts: Record<string, SortField> = {
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
};

const {
  thread_id: _threadId,
  depth: _depth,
  deleted_at: _deletedAt,
  ...commentColumns
} = columnMembers('t', Comment);

/** Comments over the alias `t`, each with all replies below it. */
export const commentList: ListSpec = {
  name: 'comments',
  from: 'comments t left join users u on u.id = t.user_id',
  id: 't.id',
  sorts: commentSorts,
  defaultSort: 'created_at',
  search: 'fold(t.content)',
  members: {
    ...commentColumns,
    user_display_name: "coalesce(u.display_name, '')",
    is_deleted: 't.deleted_at is not null',
    replies: 'comment_replies(t.id)',
  },
};

/** The threads of a card, oldest first, each with all its replies. @throws EstateError `forbidden`, `not_found`. */
export async function listComments(ctx: Ctx, cardId: string, params: ListParams): Promise<JsonText> {
  requirePermission(ctx.caller, 'comments.view');
  const card = await requireVisibleCard(ctx.db, ctx, cardId);
  const threads: Condition = fragment`t.card_id = ${card.id}::uuid and t.parent_id is null`;
  return await runList(ctx, commentList, [threads], params);
}
