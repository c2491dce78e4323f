import Type from 'typebox';
import type { Services } from '../../../domain/kernel/services.ts';
import { registrationOpen, ssoConfigured } from '../../../domain/kernel/settings/settings.views.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { finishSso, startSso } from '../../../integrations/sso/sso.flow.ts';
import { knownAuthorizationEndpoint } from '../../../integrations/sso/sso.issuer.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { tokenAnswer, tokenIssuer } from './auth.issue.ts';

const RedirectUri = Type.String({ format: 'uri', maxLength: 1000 });

/** Single sign-on by OpenID Connect. */
export function registerSsoRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.get('/api/v1/auth/sso/config', {
    id: 'readSsoConfig',
    summary: 'Read the login methods, and whether users can register',
    permission: 'public',
    answers: ok(
      'With the members of the provider if single sign-on is enabled',
      object({
        enabled: Type.Boolean(),
        registration_enabled: Type.Boolean(),
        provider: Type.Optional(Type.String()),
        client_id: Type.Optional(Type.String()),
        authorization_endpoint: Type.Optional(
          Type.String({ description: 'Empty if only the provider’s discovery document contains it' }),
        ),
        tenant_id: Type.Optional(Type.String()),
      }),
    ),
    handler: async ({ request }) => {
      const settings = await settingsOf(services, request);
      const { sso } = settings.values;
      const enabled = ssoConfigured(settings);
      return {
        enabled,
        registration_enabled: registrationOpen(settings),
        ...(enabled
          ? {
              provider: sso.provider,
              client_id: sso.client_id,
              authorization_endpoint: knownAuthorizationEndpoint(sso),
              tenant_id: sso.tenant_id,
            }
          : {}),
      };
    },
  });

  routes.post('/api/v1/auth/sso/start', {
    id: 'startSso',
    summary: 'Start a login with the identity provider',
    description:
      'The client stores `state`, redirects the browser to `authorization_url`, and only accepts a redirect back with the same `state`. The service stores the nonce and the PKCE verifier.',
    permission: 'public',
    secretAnswer: true,
    body: object({ redirect_uri: RedirectUri }),

    answers: ok(
      'The login page of the provider',
      object({
        authorization_url: Type.String(),
        state: Type.String(),
        expires_in: Type.Integer({ description: 'Seconds until the login attempt expires' }),
      }),
    ),
    errors: ['too_many_requests', 'upstream_failed', 'wrong_state'],
    handler: ({ ctx, body, request }) => startSso(services, ctx, { ...body, address: request.ip }),
  });

  routes.post('/api/v1/auth/sso/callback', {
    id: 'finishSso',
    summary: 'Complete a login with the identity provider',
    description:
      'Send the parameters that the provider has added to the redirect URL: `code`, `state`, and `iss` if present. The first login of a user creates the account.',
    permission: 'public',
    secretAnswer: true,
    body: object({
      code: Type.String({ minLength: 1, maxLength: 4000 }),
      state: Type.String({ minLength: 1, maxLength: 500 }),
      redirect_uri: RedirectUri,
      iss: Type.Optional(Type.String({ maxLength: 1000 })),
    }),

    answers: tokenAnswer,
    errors: ['invalid_credentials', 'sso_refused', 'too_many_requests', 'upstream_failed', 'wrong_state'],
    handler: async ({ ctx, body, request }) =>
      issue(await finishSso(services, ctx, { ...body, address: request.ip })),
  });
}
