import Type from 'typebox';
import { createApiToken, revokeApiToken } from '../../../domain/access/api-tokens.commands.ts';
import { listApiTokens } from '../../../domain/access/api-tokens.queries.ts';
import { Nullable, object } from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { ApiTokenSchema, NewApiTokenSchema } from '../../schemas/access.ts';
import { listAnswer, listQuery, plainId } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const body = object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'What it is for' }),
  scopes: Type.Array(Type.String({ maxLength: 100 }), {
    default: ['*'],
    minItems: 1,
    maxItems: 200,
    description:
      'Permission keys, and `account` for the own account (profile, to-dos, favourites, preferences, tokens), or `*` for everything: never more than the user may do at the time of use',
  }),
  expires_at: Type.Optional(
    Nullable(
      Type.String({
        format: 'date-time',
        description:
          'At most as far ahead as the setting `api-token-life` allows, which is where a token without it ends',
      }),
    ),
  ),
});
const query = () => listQuery(['created_at', 'name', 'last_used_at', 'expires_at'], 'created_at', {});
const listed = {
  200: { description: 'Tokens, without their secrets', schema: listAnswer(ApiTokenSchema) },
};
const created = {
  201: { description: 'The token; no other answer holds it', schema: NewApiTokenSchema },
};
const description =
  'It is sent as Bearer authorization, or as the password of Basic authorization. It can neither make tokens nor set passwords or second factors. `token` is shown this once.';

/** Personal and service tokens, for programs. */
export function registerTokenRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Tokens' });

  routes.get('/api/v1/tokens', {
    id: 'listTokens',
    summary: 'List the own tokens',
    permission: 'login',
    scope: 'account',
    query: query(),
    answers: listed,
    handler: ({ ctx, query }) => listApiTokens(ctx, ctx.caller.userId!, query),
  });

  routes.post('/api/v1/tokens', {
    id: 'createToken',
    summary: 'Make a token for oneself',
    description,
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    body,

    answers: created,
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: async ({ ctx, body, reply }) =>
      sendJson(reply.code(201), await createApiToken(ctx, ctx.caller.userId!, body)),
  });

  routes.delete('/api/v1/tokens/:id', {
    id: 'revokeToken',
    summary: 'Revoke an own token, at once',
    permission: 'login',
    scope: 'account',
    answers: { 204: { description: 'Revoked' } },
    handler: ({ ctx, params }) => revokeApiToken(ctx, ctx.caller.userId!, plainId(params.id)),
  });

  routes.get('/api/v1/accounts/:id/tokens', {
    id: 'listUserTokens',
    summary: 'List the tokens of a user or service account',
    permission: 'admin.users',
    query: query(),
    answers: listed,
    handler: ({ ctx, params, query }) => listApiTokens(ctx, plainId(params.id), query),
  });

  routes.post('/api/v1/accounts/:id/tokens', {
    id: 'createUserToken',
    summary: 'Make a token for a service account, or for a user',
    description: `${description} The caller has to hold every permission that the account holds.`,
    permission: 'admin.users',
    secretAnswer: true,
    body,

    answers: created,
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendJson(reply.code(201), await createApiToken(ctx, plainId(params.id), body)),
  });

  routes.delete('/api/v1/accounts/:id/tokens/:token_id', {
    id: 'revokeUserToken',
    summary: 'Revoke a token of a user or service account, at once',
    permission: 'admin.users',
    answers: { 204: { description: 'Revoked' } },
    handler: ({ ctx, params }) => revokeApiToken(ctx, plainId(params.id), plainId(params.token_id)),
  });
}
