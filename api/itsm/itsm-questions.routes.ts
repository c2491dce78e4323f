import Type, { type TSchema } from 'typebox';
import { listPairs, listQuestions } from '../../domain/itsm/questions.queries.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { closed, listAnswer, listQuery, Uuid } from '../schemas/common.ts';
import { ItsmPairSchema, ItsmQuestionSchema } from '../schemas/itsm-runs.ts';
import type { App } from '../types.ts';

const tag = 'ITSM synchronisation';
const see = 'itsm_sync.view';
const base = '/api/v1/itsm-sync';
const ofMapping = Type.Object({ mapping_id: Uuid }, closed);

const idOf = (description: string) => Type.Optional(Type.String({ ...Uuid, description }));

const oneOf = (values: readonly string[], description: string) =>
  Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  );

/** What runs leave to persons, and which record is which card. */
export function registerItsmQuestionRoutes(app: App): void {
  for (const schema of [ItsmQuestionSchema, ItsmPairSchema] as TSchema[]) app.addSchema(schema);

  operation(app, {
    method: 'GET',
    url: `${base}/questions`,
    id: 'listItsmQuestions',
    tag,
    summary: 'List conflicts and uncertain matches that wait for a person',
    permission: see,
    query: listQuery(['asked_at'], 'asked_at', {
      mapping_id: idOf('The mapping'),
      kind: oneOf(['conflict', 'match'], 'What is asked'),
    }),
    answers: { 200: { description: 'Questions', schema: listAnswer(Type.Ref('ItsmQuestion#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listQuestions(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: `${base}/mappings/:mapping_id/pairs`,
    id: 'listItsmPairs',
    tag,
    summary: 'List which record is which card',
    permission: see,
    params: ofMapping,
    query: listQuery(['remote_id'], 'remote_id', {
      state: oneOf(['linked', 'quarantined', 'ended', 'unmapped'], 'How the pair stands'),
      card_id: idOf('The card'),
    }),
    answers: { 200: { description: 'Pairs', schema: listAnswer(Type.Ref('ItsmPair#')) } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listPairs(ctx, params.mapping_id, query)),
  });
}
