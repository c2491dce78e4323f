import Type from 'typebox';
import { Comment } from '../../../domain/collaboration/collaboration.model.ts';
import {
  createComment,
  deleteComment,
  editComment,
} from '../../../domain/collaboration/comments/comments.commands.ts';
import { commentList } from '../../../domain/collaboration/comments/comments.list.ts';
import { Clearable, component, FilledText, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const commentMembers = {
  ...Comment.shown.columns,
  user_display_name: Type.String(),
  is_deleted: Type.Boolean({ description: 'Deleted and empty, but retained for its replies' }),
  replies: Type.Array(Type.Ref('Comment#'), { description: 'Oldest first, each with its own replies' }),
};
const CommentSchema = component('Comment', commentMembers);

const Content = FilledText(10_000, 'Plain text. `@[Name](user:<id>)` mentions a user, who is notified.');
const CommentBody = object({
  content: Content,
  parent_id: Clearable(Type.String({ ...Uuid, description: 'The comment to which it replies' })),
});
const CommentPatchBody = object({ content: Type.Optional(Content) });

const changing = {
  permission: 'login',
  permissionNote:
    "comments.manage or card.manage_comments for others' comments; scope comments.create for own ones",
} as const;

/** Comments on cards. */
export function registerCommentRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Comments' });

  routes.list('listComments', '/api/v1/cards/:id/comments', commentList, {
    summary: 'List the threads of a card',
    description: 'A page has the first comments of threads, each with all its replies.',
    permissionNote: 'inventory.view or card.view',
    responses: page('Threads, oldest first', CommentSchema),
  });

  routes.post('createComment', '/api/v1/cards/:id/comments', {
    summary: 'Comment on a card, or reply to a comment',
    description: 'Stakeholders of the card and mentioned users are notified.',
    permission: 'login',
    permissionNote: 'comments.create or card.create_comments',
    body: CommentBody,
    responses: created('The comment', CommentSchema),
    errors: ['thread_full'],
    handler: async ({ ctx, params, body }) => (await createComment(ctx, params.id, body)).text,
  });

  routes.patch('editComment', '/api/v1/comments/:id', {
    summary: 'Change the text of a comment',
    ...changing,
    body: CommentPatchBody,
    responses: ok('The comment', CommentSchema, 'ETag'),
    handler: ({ ctx, params, body }) => editComment(ctx, params.id, body),
  });

  routes.delete('deleteComment', '/api/v1/comments/:id', {
    summary: 'Delete a comment',
    description:
      'A comment with replies is emptied and marked `is_deleted`; it is deleted with its last reply.',
    ...changing,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteComment(ctx, params.id),
  });
}
