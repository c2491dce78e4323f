import Type from 'typebox';
import {
  answerQuestion,
  mapPairAgain,
  relinkPairs,
  unmapPair,
} from '../../../domain/exchange/itsm/review.commands.ts';
import { listPairs, listQuestions } from '../../../domain/exchange/itsm/review.queries.ts';
import { Choice, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import { ItsmPairSchema, ItsmQuestionSchema } from '../../schemas/itsm-runs.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const see = 'itsm_sync.view';
const manage = 'itsm_sync.manage';

const idOf = (description: string) => Type.Optional(Type.String({ ...Uuid, description }));

const recordKey = Type.Optional(
  Type.String({ minLength: 1, maxLength: 200, description: 'The key of the record at the remote' }),
);

/** What runs leave to persons, and which record is which card. */
export function registerItsmQuestionRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.get('/api/v1/itsm-sync/questions', {
    id: 'listItsmQuestions',
    summary: 'List conflicts and uncertain matches that wait for a person',
    permission: see,
    query: listQuery(['opened_at'], 'opened_at', {
      mapping_id: idOf('The mapping'),
      kind: Type.Optional(Choice(['conflict', 'match'], 'What is asked')),
      remote_id: recordKey,
    }),
    answers: { 200: { description: 'Questions', schema: listAnswer(ItsmQuestionSchema) } },
    handler: ({ ctx, query }) => listQuestions(ctx, query),
  });

  routes.get('/api/v1/itsm-sync/mappings/:mapping_id/pairs', {
    id: 'listItsmPairs',
    summary: 'List which record is which card',
    permission: see,
    query: listQuery(['remote_id'], 'remote_id', {
      state: Type.Optional(
        Choice(['linked', 'quarantined', 'ended', 'unmapped', 'removed'], 'How the pair stands'),
      ),
      card_id: idOf('The card'),
      remote_id: recordKey,
    }),
    answers: { 200: { description: 'Pairs', schema: listAnswer(ItsmPairSchema) } },
    handler: ({ ctx, params, query }) => listPairs(ctx, params.mapping_id, query),
  });

  routes.post('/api/v1/itsm-sync/mappings/:mapping_id/relink', {
    id: 'relinkItsmPairs',
    summary: 'Give the cards of records that are gone to those with the same identity fields',
    description:
      'For a remote that was cloned or moved, where each record has a new key. Answers all open questions at once that ask whether a record is a card whose own record is gone, where the identity fields are the same and nothing else fits; the others are left. The next run carries it out and reads everything; what was agreed on with the old records is forgotten, so that values that differ are conflicts.',
    permission: manage,
    query: object({
      dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only count' })),
    }),
    answers: {
      200: {
        description: 'What was done, or would be',
        schema: object({ relinked: Type.Integer(), left: Type.Integer() }),
      },
    },
    errors: ['wrong_state'],
    handler: ({ ctx, params, query }) => relinkPairs(ctx, params.mapping_id, query.dry_run ?? false),
  });

  routes.post('/api/v1/itsm-sync/questions/:question_id/answer', {
    id: 'answerItsmQuestion',
    summary: 'Answer a question',
    description:
      'A conflict: which side wins. A match: which card the record is, or null for a new one. The next run carries it out; a conflict’s answer holds while both sides are as they were.',
    permission: manage,
    permissionNote: usesNote,
    body: Type.Union([
      object({ winner: Type.Union([Type.Literal('local'), Type.Literal('remote')]) }),
      object({ card_id: Nullable(Uuid) }),
    ]),

    answers: { 204: { description: 'Answered' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => answerQuestion(ctx, params.question_id, body),
  });

  for (const [verb, act, summary, description] of [
    [
      'unmap',
      unmapPair,
      'Take a record and its card out of the synchronisation',
      'Both stay as they are, and neither is linked or made again until they are mapped again.',
    ],
    [
      'map',
      mapPairAgain,
      'Synchronise again what was taken out',
      'What has changed meanwhile on one side alone goes to the other.',
    ],
  ] as const) {
    routes.post(`/api/v1/itsm-sync/mappings/:mapping_id/pairs/:remote_id/${verb}`, {
      id: `${verb}ItsmPair`,
      summary,
      description,
      permission: manage,
      ...(verb === 'map' ? { permissionNote: usesNote } : {}),
      params: object({ mapping_id: Uuid, remote_id: Type.String({ minLength: 1, maxLength: 200 }) }),
      answers: { 204: { description: 'Done' } },
      errors: ['wrong_state'],
      handler: ({ ctx, params }) => act(ctx, params.mapping_id, params.remote_id),
    });
  }
}
