import Type from 'typebox';
import {
  decideReviewItem,
  relinkPairs,
  remapPair,
  unmapPair,
} from '../../../domain/exchange/itsm/review.commands.ts';
import { pairList, reviewItemList } from '../../../domain/exchange/itsm/review.queries.ts';
import { Choice, Flag, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';
import { ItsmPairSchema, ItsmQuestionSchema } from './itsm-runs.schemas.ts';

const manage = 'itsm_sync.manage';

/** Review items and pairs. */
export function registerItsmQuestionRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.list('listItsmQuestions', '/api/v1/itsm-sync/questions', reviewItemList, {
    summary: 'List review items: conflicts and uncertain matches',
    responses: page('Review items', ItsmQuestionSchema),
  });

  routes.list('listItsmPairs', '/api/v1/itsm-sync/mappings/:mapping_id/pairs', pairList, {
    summary: 'List the pairs of a mapping',
    responses: page('Pairs', ItsmPairSchema),
  });

  routes.post('relinkItsmPairs', '/api/v1/itsm-sync/mappings/:mapping_id/relink', {
    summary: 'Pair cards of deleted records with new records that have the same identity fields',
    description:
      'For a remote that was cloned or moved, so that each record has a new key. Decides all open matches of a record with a card whose own record is gone, if the identity fields are equal and there is no other candidate; other review items stay open. The next run is a full read and applies it. The bases of the old pairs are dropped, so different values become conflicts.',
    permission: manage,
    query: object({
      dry_run: Type.Optional(Flag('Only count the pairs')),
    }),
    responses: ok(
      'The number of pairs, and of matches that stay open',
      object({ relinked: Type.Integer(), still_open: Type.Integer() }),
    ),
    errors: ['wrong_state'],
    handler: ({ ctx, params, query }) => relinkPairs(ctx, params.mapping_id, query.dry_run ?? false),
  });

  routes.post('answerItsmQuestion', '/api/v1/itsm-sync/questions/:question_id/answer', {
    summary: 'Decide a review item',
    description:
      'A conflict: the side that wins. A match: the card of the record, or null for a new card. The next run applies the decision. The decision of a conflict is valid as long as neither side changes.',
    permission: manage,
    permissionNote: usesNote,
    body: Type.Union([object({ winner: Choice(['local', 'remote']) }), object({ card_id: Nullable(Uuid) })]),
    responses: { 204: { description: 'Decided' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => decideReviewItem(ctx, params.question_id, body),
  });

  for (const [verb, act, summary, description] of [
    [
      'unmap',
      unmapPair,
      'Exclude a record and its card from synchronisation',
      'Neither is changed, paired or created again until the pair is mapped again.',
    ],
    [
      'map',
      remapPair,
      'Synchronise an unmapped pair again',
      'Changes that only one side made meanwhile are copied to the other.',
    ],
  ] as const) {
    routes.post(`${verb}ItsmPair`, `/api/v1/itsm-sync/mappings/:mapping_id/pairs/:remote_id/${verb}`, {
      summary,
      description,
      permission: manage,
      ...(verb === 'map' ? { permissionNote: usesNote } : {}),
      params: object({ mapping_id: Uuid, remote_id: Type.String({ minLength: 1, maxLength: 200 }) }),
      responses: { 204: { description: 'Done' } },
      errors: ['wrong_state'],
      handler: ({ ctx, params }) => act(ctx, params.mapping_id, params.remote_id),
    });
  }
}
