import Type from 'typebox';
import { createApiToken, revokeApiToken } from '../../domain/access/api-tokens.commands.ts';
import { listApiTokens } from '../../domain/access/api-tokens.queries.ts';
import { closed, Nullable, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { ApiTokenSchema, NewApiTokenSchema } from '../schemas/access.ts';
import { IdParams, listAnswer, listQuery, plainId } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Tokens';
const body = Type.Object(
  {
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
  },
  closed,
);
const bodyExample = {
  name: 'Nightly extraction',
  scopes: ['inventory.view', 'inventory.export'],
  expires_at: '2027-01-01T00:00:00.000Z',
};
const query = () => listQuery(['created_at', 'name', 'last_used_at', 'expires_at'], 'created_at', {});
const listed = {
  200: { description: 'Tokens, without their secrets', schema: listAnswer(Type.Ref('ApiToken#')) },
};
const created = {
  201: { description: 'The token; no other answer holds it', schema: Type.Ref('NewApiToken#') },
};
const description =
  'It is sent as Bearer authorization, or as the password of Basic authorization. It can neither make tokens nor set passwords or second factors. `token` is shown this once.';

/** Personal and service tokens, for programs. */
export function registerTokenRoutes(app: App): void {
  app.addSchema(ApiTokenSchema);
  app.addSchema(NewApiTokenSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/tokens',
    id: 'listTokens',
    tag,
    summary: 'List the own tokens',
    permission: 'login',
    scope: 'account',
    query: query(),
    answers: listed,
    handler: async ({ ctx, query, reply }) =>
      sendJson(reply, await listApiTokens(ctx, ctx.caller.userId!, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/tokens',
    id: 'createToken',
    tag,
    summary: 'Make a token for oneself',
    description,
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    body,
    bodyExample,
    answers: created,
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: async ({ ctx, body, reply }) =>
      sendJson(reply.code(201), await createApiToken(ctx, ctx.caller.userId!, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/tokens/:id',
    id: 'revokeToken',
    tag,
    summary: 'Revoke an own token, at once',
    permission: 'login',
    scope: 'account',
    params: IdParams,
    answers: { 204: { description: 'Revoked' } },
    handler: async ({ ctx, params, reply }) => {
      await revokeApiToken(ctx, ctx.caller.userId!, plainId(params.id));
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/accounts/:id/tokens',
    id: 'listUserTokens',
    tag,
    summary: 'List the tokens of a user or service account',
    permission: 'admin.users',
    params: IdParams,
    query: query(),
    answers: listed,
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listApiTokens(ctx, plainId(params.id), query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/accounts/:id/tokens',
    id: 'createUserToken',
    tag,
    summary: 'Make a token for a service account, or for a user',
    description: `${description} The caller has to hold every permission that the account holds.`,
    permission: 'admin.users',
    secretAnswer: true,
    params: IdParams,
    body,
    bodyExample,
    answers: created,
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendJson(reply.code(201), await createApiToken(ctx, plainId(params.id), body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/accounts/:id/tokens/:token_id',
    id: 'revokeUserToken',
    tag,
    summary: 'Revoke a token of a user or service account, at once',
    permission: 'admin.users',
    params: Type.Object({ id: Uuid, token_id: Uuid }, closed),
    answers: { 204: { description: 'Revoked' } },
    handler: async ({ ctx, params, reply }) => {
      await revokeApiToken(ctx, plainId(params.id), plainId(params.token_id));
      return reply.code(204).send();
    },
  });
}
