import Type from 'typebox';
import { pairStates } from '../../../domain/exchange/itsm/itsm.model.ts';
import {
  decideReviewItem,
  relinkPairs,
  remapPair,
  unmapPair,
} from '../../../domain/exchange/itsm/review.commands.ts';
import { listPairs, listReviewItems } from '../../../domain/exchange/itsm/review.queries.ts';
import { Choice, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';
import { ItsmPairSchema, ItsmQuestionSchema } from './itsm-runs.schemas.ts';

const see = 'itsm_sync.view';
const manage = 'itsm_sync.manage';

const idOf = (description: string) => Type.Optional(Type.String({ ...Uuid, description }));

const recordKey = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: 'The key of the record at the remote' }),
);

/** Review items and pairs. */
export function registerItsmQuestionRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.get('/api/v1/itsm-sync/questions', {
    id: 'listItsmQuestions',
    summary: 'List review items: conflicts and uncertain matches',
    permission: see,
    query: listQuery(['opened_at'], 'opened_at', {
      mapping_id: idOf('The mapping'),
      kind: Type.Optional(Choice(['conflict', 'match'], 'The kind of review item')),
      remote_id: recordKey,
    }),
    responses: page('Review items', ItsmQuestionSchema),
    handler: ({ ctx, query }) => listReviewItems(ctx, query),
  });

  routes.get('/api/v1/itsm-sync/mappings/:mapping_id/pairs', {
    id: 'listItsmPairs',
    summary: 'List the pairs of a mapping',
    permission: see,
    query: listQuery(['remote_id'], 'remote_id', {
      state: Type.Optional(Choice(pairStates, 'The state of the pair')),
      card_id: idOf('The card'),
      remote_id: recordKey,
    }),
    responses: page('Pairs', ItsmPairSchema),
    handler: ({ ctx, params, query }) => listPairs(ctx, params.mapping_id, query),
  });

  routes.post('/api/v1/itsm-sync/mappings/:mapping_id/relink', {
    id: 'relinkItsmPairs',
    summary: 'Pair cards of deleted records with new records that have the same identity fields',
    description:
      'For a remote that was cloned or moved, so that each record has a new key. Decides all open matches of a record with a card whose own record is gone, if the identity fields are equal and there is no other candidate; other review items stay open. The next run is a full read and applies it. The bases of the old pairs are dropped, so different values become conflicts.',
    permission: manage,
    query: object({
      dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only count the pairs' })),
    }),
    responses: ok(
      'The number of pairs, and of matches that stay open',
      object({ relinked: Type.Integer(), left: Type.Integer() }),
    ),
    errors: ['wrong_state'],
    handler: ({ ctx, params, query }) => relinkPairs(ctx, params.mapping_id, query.dry_run ?? false),
  });

  routes.post('/api/v1/itsm-sync/questions/:question_id/answer', {
    id: 'answerItsmQuestion',
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
    routes.post(`/api/v1/itsm-sync/mappings/:mapping_id/pairs/:remote_id/${verb}`, {
      id: `${verb}ItsmPair`,
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
