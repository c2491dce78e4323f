import Type from 'typebox';
import { apiTokenList, createApiToken, revokeApiToken } from '../../../domain/access/api-tokens.commands.ts';
import {
  Clearable,
  component,
  itemComponent,
  Nullable,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { page, routesOf } from '../../operation.ts';
import { plainId } from '../../schemas.ts';
import type { App } from '../../types.ts';

const apiToken = {
  id: Uuid,
  user_id: Uuid,
  name: Type.String(),
  hint: Type.String({ examples: ['est_k3Qf'], description: 'The first characters of the token' }),
  scopes: Type.Array(Type.String({ examples: ['inventory.view'] })),
  expires_at: Nullable(Timestamp),
  is_expired: Type.Boolean(),
  last_used_at: Nullable(Type.String({ format: 'date-time', description: 'With a precision of one minute' })),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
};

const ApiTokenSchema = itemComponent('ApiToken', apiToken);

const NewApiTokenSchema = component('NewApiToken', {
  ...apiToken,
  token: Type.String({ examples: ['est_k3QfW7bXo2nJ5tZkVY8cRf0aLhUe3sD6iTqNyEwpGmB'] }),
});

const body = object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'The purpose of the token' }),
  scopes: Type.Array(Type.String({ maxLength: 100 }), {
    default: ['*'],
    minItems: 1,
    maxItems: 200,
    description:
      'Permission keys, and `account` for the user’s account (profile, to-dos, favorites, preferences, tokens), or `*` for everything; limited to the rights of the user at the time of use',
  }),
  expires_at: Clearable(
    Type.String({
      format: 'date-time',
      description: 'At most the lifetime of the setting `api-token-life`, which is also the default',
    }),
  ),
});
const listed = page('Tokens, without their secrets', ApiTokenSchema);
const created = {
  201: { description: 'The token; no other response contains it', schema: NewApiTokenSchema },
};
const description =
  'Send it as Bearer token, or as the password of Basic authentication. It cannot be used to create tokens or to set passwords or second factors. `token` is only returned here.';

/** Personal and service tokens, for programs. */
export function registerTokenRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Tokens' });

  routes.list('listTokens', '/api/v1/tokens', apiTokenList, {
    summary: 'List the caller’s tokens',
    permission: 'login',
    scope: 'account',
    responses: listed,
  });

  routes.post('createToken', '/api/v1/tokens', {
    summary: 'Create a personal token',
    description,
    permission: 'login',
    scope: 'account',
    secretResponse: true,
    body,
    responses: created,
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: async ({ ctx, body, reply }) =>
      sendJson(reply.code(201), await createApiToken(ctx, ctx.caller.userId!, body)),
  });

  routes.delete('revokeToken', '/api/v1/tokens/:id', {
    summary: 'Revoke a personal token',
    permission: 'login',
    scope: 'account',
    responses: { 204: { description: 'Revoked' } },
    handler: ({ ctx, params }) => revokeApiToken(ctx, ctx.caller.userId!, plainId(params.id)),
  });

  routes.list('listUserTokens', '/api/v1/accounts/:id/tokens', apiTokenList, {
    summary: 'List the tokens of a user or service account',
    permission: 'admin.users',
    responses: listed,
  });

  routes.post('createUserToken', '/api/v1/accounts/:id/tokens', {
    summary: 'Create a token for a service account or a user',
    description: `${description} The caller must have every permission of the account.`,
    permission: 'admin.users',
    secretResponse: true,
    body,
    responses: created,
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendJson(reply.code(201), await createApiToken(ctx, plainId(params.id), body)),
  });

  routes.delete('revokeUserToken', '/api/v1/accounts/:id/tokens/:token_id', {
    summary: 'Revoke a token of a user or service account',
    permission: 'admin.users',
    responses: { 204: { description: 'Revoked' } },
    handler: ({ ctx, params }) => revokeApiToken(ctx, plainId(params.id), plainId(params.token_id)),
  });
}
