import Type from 'typebox';
import {
  createComment,
  deleteComment,
  editComment,
} from '../../domain/collaboration/comments/comments.commands.ts';
import { commentSorts, listComments } from '../../domain/collaboration/comments/comments.list.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import examples from '../schemas/collaboration.examples.json' with { type: 'json' };
import * as schemas from '../schemas/collaboration.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Comments';
const comment = Type.Ref('Comment#');
const example = examples.comment;
const changing = {
  permission: 'login',
  permissionNote:
    "comments.manage or card.manage_comments for others' comments; scope comments.create for own ones",
} as const;

/** Comments on cards. */
export function registerCommentRoutes(app: App): void {
  app.addSchema(schemas.CommentSchema);
  app.addSchema(schemas.CommentItemSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/comments',
    id: 'listComments',
    tag,
    summary: 'List the threads of a card',
    description: 'A page has the first comments of threads, each with all its replies.',
    permission: 'comments.view',
    permissionNote: 'inventory.view or card.view',
    params: IdParams,
    query: listQuery(commentSorts, 'created_at', {}),
    answers: {
      200: {
        description: 'Threads, oldest first',
        schema: listAnswer(Type.Ref('CommentItem#')),
        example: { items: [example], total: 1, page: 1, page_size: 50 },
      },
    },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listComments(ctx, params.id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/cards/:id/comments',
    id: 'createComment',
    tag,
    summary: 'Comment on a card, or reply to a comment',
    description: 'Stakeholders of the card and mentioned users are notified.',
    permission: 'login',
    permissionNote: 'comments.create or card.create_comments',
    params: IdParams,
    body: schemas.CommentBody,
    bodyExample: { content: example.content },
    answers: { 201: { description: 'The comment', schema: comment, example, headers: ['ETag'] } },
    errors: ['thread_full'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), (await createComment(ctx, params.id, body)).text),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/comments/:id',
    id: 'editComment',
    tag,
    summary: 'Change the text of a comment',
    ...changing,
    params: IdParams,
    headers: ['If-Match'],
    body: schemas.CommentPatchBody,
    bodyExample: { content: 'The contract ends in April.' },
    answers: { 200: { description: 'The comment', schema: comment, example, headers: ['ETag'] } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await editComment(ctx, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/comments/:id',
    id: 'deleteComment',
    tag,
    summary: 'Delete a comment',
    description:
      'A comment with replies is emptied and marked `is_deleted`; it is deleted with its last reply.',
    ...changing,
    params: IdParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteComment(ctx, params.id);
      return reply.code(204).send();
    },
  });
}
