import {
  createComment,
  deleteComment,
  editComment,
} from '../../../domain/collaboration/comments/comments.commands.ts';
import { commentSorts, listComments } from '../../../domain/collaboration/comments/comments.list.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/collaboration.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const comment = schemas.CommentSchema;
const changing = {
  permission: 'login',
  permissionNote:
    "comments.manage or card.manage_comments for others' comments; scope comments.create for own ones",
} as const;

/** Comments on cards. */
export function registerCommentRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Comments' });

  routes.get('/api/v1/cards/:id/comments', {
    id: 'listComments',
    summary: 'List the threads of a card',
    description: 'A page has the first comments of threads, each with all its replies.',
    permission: 'comments.view',
    permissionNote: 'inventory.view or card.view',
    query: listQuery(commentSorts, 'created_at', {}),
    answers: page('Threads, oldest first', schemas.CommentItemSchema),
    handler: ({ ctx, params, query }) => listComments(ctx, params.id, query),
  });

  routes.post('/api/v1/cards/:id/comments', {
    id: 'createComment',
    summary: 'Comment on a card, or reply to a comment',
    description: 'Stakeholders of the card and mentioned users are notified.',
    permission: 'login',
    permissionNote: 'comments.create or card.create_comments',
    body: schemas.CommentBody,

    answers: created('The comment', comment),
    errors: ['thread_full'],
    handler: async ({ ctx, params, body }) => (await createComment(ctx, params.id, body)).text,
  });

  routes.patch('/api/v1/comments/:id', {
    id: 'editComment',
    summary: 'Change the text of a comment',
    ...changing,
    headers: ['If-Match'],
    body: schemas.CommentPatchBody,

    answers: ok('The comment', comment, 'ETag'),
    handler: ({ ctx, params, body }) => editComment(ctx, params.id, body),
  });

  routes.delete('/api/v1/comments/:id', {
    id: 'deleteComment',
    summary: 'Delete a comment',
    description:
      'A comment with replies is emptied and marked `is_deleted`; it is deleted with its last reply.',
    ...changing,
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteComment(ctx, params.id),
  });
}
