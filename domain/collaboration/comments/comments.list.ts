import { fragment } from '../../../platform/database.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts } from '../../kernel/lists/lists.run.ts';
import { requireVisibleCard } from '../cards.access.ts';
import { Comment } from '../collaboration.model.ts';

/** The threads of a card, oldest first, each with all its replies. */
export const commentList = defineList({
  name: 'comments',
  permission: 'comments.view',
  from: 'comments t left join users u on u.id = t.user_id',
  id: 't.id',
  sorts: columnSorts('t', Comment, 'created_at'),
  defaultSort: 'created_at',
  search: 'fold(t.content)',
  members: {
    ...columnMembers('t', Comment.shown),
    user_display_name: "coalesce(u.display_name, '')",
    is_deleted: 't.deleted_at is not null',
    replies: 'comment_replies(t.id)',
  },
  async where(ctx, _params, cardId) {
    const card = await requireVisibleCard(ctx.db, ctx, cardId);
    return [fragment`t.card_id = ${card.id}::uuid and t.parent_id is null`];
  },
});
