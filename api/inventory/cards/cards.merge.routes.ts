import { mergeCards } from '../../../domain/inventory/cards/merge/merge.command.ts';
import {
  listMerges,
  mergeFilters,
  mergeSorts,
  readMerge,
} from '../../../domain/inventory/cards/merge/merge.list.ts';
import { undoMerge } from '../../../domain/inventory/cards/merge/merge.undo.ts';
import { routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/card-merge.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const writing = {
  permission: 'login',
  permissionNote: 'inventory.edit and inventory.archive, or card.edit and card.archive on each card',
} as const;

/** Merging of duplicates, and what can be undone of it. */
export function registerCardMergeRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.post('/api/v1/cards/merge', {
    id: 'mergeCards',
    summary: 'Merge duplicates of a card into it',
    description:
      'The survivor is given all relations, children, tags, stakeholders, comments, to-dos, links and files of the merged cards, and their history shows in its own. The merged cards are deleted; reads of their ids are led to the survivor with 308, writes are refused with `merged_card`. Relations that would be there twice are folded into one. It can be undone.',
    ...writing,
    body: schemas.CardMergeBody,

    answers: {
      200: { description: 'The survivor and what became of the rest', schema: schemas.CardMergeAnswer },
    },
    errors: [
      'capability_too_deep',
      'cardinality_exceeded',
      'external_id_taken',
      'not_found',
      'parent_cycle',
      'sibling_name_taken',
      'too_many_descendants',
      'wrong_state',
    ],
    handler: async ({ ctx, body }) => {
      const { survivor, ...rest } = await mergeCards(ctx, body);
      return `{"survivor":${survivor},${JSON.stringify(rest).slice(1)}`;
    },
  });

  routes.get('/api/v1/card-merges', {
    id: 'listCardMerges',
    summary: 'List merges of cards',
    permission: 'inventory.view',
    query: listQuery(mergeSorts, 'created_at', mergeFilters),
    answers: { 200: { description: 'Merges', schema: schemas.CardMergeList } },
    handler: ({ ctx, query }) => listMerges(ctx, query),
  });

  routes.get('/api/v1/card-merges/:id', {
    id: 'readCardMerge',
    summary: 'Read one merge',
    permission: 'inventory.view',
    answers: { 200: { description: 'The merge', schema: schemas.CardMergeSchema } },
    handler: ({ ctx, params }) => readMerge(ctx, params.id),
  });

  routes.post('/api/v1/card-merges/:id/undo', {
    id: 'undoCardMerge',
    summary: 'Undo a merge',
    description:
      'The merged cards come back with their ids and values and take back what was theirs; the survivor gets back what the merge changed. What was written since to other fields, or attached to the survivor, stays. Where something that the merge did has changed since, the problem lists it as `conflicts` and nothing is written, unless `force`.',
    ...writing,
    body: schemas.UndoMergeBody,

    answers: { 200: { description: 'The survivor as it was', schema: schemas.UndoMergeAnswer } },
    errors: ['merge_conflict', 'wrong_state'],
    handler: async ({ ctx, params, body }) => {
      const request = { dry_run: body?.dry_run ?? false, force: body?.force ?? false };
      const { survivor, ...rest } = await undoMerge(ctx, params.id, request);
      return `{"survivor":${survivor},${JSON.stringify(rest).slice(1)}`;
    },
  });
}
