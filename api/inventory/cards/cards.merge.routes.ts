import Type from 'typebox';
import { undoMerge } from '../../../domain/app/batches/merge.undo.ts';
import { CardMerge } from '../../../domain/inventory/cards/cards.model.ts';
import { mergeCards } from '../../../domain/inventory/cards/merge/merge.command.ts';
import { mergeList } from '../../../domain/inventory/cards/merge/merge.list.ts';
import { component, Flag, Nullable, NullableText, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { CardMergeBody, CardMergeResult, CardSchema, DryRun } from './cards.schemas.ts';

const UndoMergeBody = object({
  dry_run: DryRun,
  force: Flag('Skip what has changed since the merge, and restore the rest'),
});

const UndoMergeResponse = component('UndoMergeResponse', {
  merge_id: Uuid,
  dry_run: Type.Boolean(),
  survivor: CardSchema,
  restored_card_ids: Type.Array(Uuid),
  conflicts: Type.Array(
    object({
      entity: Type.String(),
      id: Uuid,
      field: Nullable(Type.String()),
      code: Type.String(),
      message: Type.String(),
    }),
    { description: 'Skipped changes; empty without `force`' },
  ),
});

const members = {
  ...CardMerge.columns,
  survivor_name: NullableText('Null if the card was deleted'),
  created_by_name: Nullable(Type.String()),
  undone_by_name: Nullable(Type.String()),
};

const CardMergeSchema = component('CardMerge', members);
const CardMergeList = listResponse(CardMergeSchema);

const writing = {
  permission: 'login',
  permissionNote: 'inventory.edit and inventory.archive, or card.edit and card.archive on each card',
} as const;

/** Merges of duplicate cards, and their undo. */
export function registerCardMergeRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Cards' });

  routes.post('mergeCards', '/api/v1/cards/merge', {
    summary: 'Merge duplicates of a card into it',
    description:
      'The survivor gets all relations, children, tags, stakeholders, comments, to-dos, links and files of the merged cards, and its history includes theirs. The merged cards are deleted; reads of their ids are redirected to the survivor with 308, writes are refused with `merged_card`. Duplicate relations are combined into one. A merge can be undone.',
    ...writing,
    body: CardMergeBody,
    responses: ok('The survivor and the merged objects', CardMergeResult),
    errors: [
      'capability_too_deep',
      'cardinality_exceeded',
      'costs_by_period',
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

  routes.list('listCardMerges', '/api/v1/card-merges', mergeList, {
    summary: 'List merges of cards',
    permission: 'inventory.view',
    responses: ok('Merges', CardMergeList),
  });

  routes.item('readCardMerge', '/api/v1/card-merges/:id', mergeList, 'merge', {
    summary: 'Read one merge',
    permission: 'inventory.view',
    responses: ok('The merge', CardMergeSchema),
  });

  routes.post('undoCardMerge', '/api/v1/card-merges/:id/undo', {
    summary: 'Undo a merge',
    description:
      'The merged cards are restored with their ids, values and related objects; the values that the merge changed in the survivor are restored. Later changes of other fields, and objects attached to the survivor later, remain. If something that the merge changed has been changed since, the problem lists it as `conflicts` and nothing is written, unless `force` is true.',
    ...writing,
    body: UndoMergeBody,
    responses: ok('The survivor after the undo', UndoMergeResponse),
    errors: ['merge_conflict', 'wrong_state'],
    handler: async ({ ctx, params, body }) => {
      const { survivor, ...rest } = await undoMerge(ctx, params.id, body);
      return `{"survivor":${survivor},${JSON.stringify(rest).slice(1)}`;
    },
  });
}
