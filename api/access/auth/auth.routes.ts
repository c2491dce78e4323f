import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { login } from '../../../domain/access/access.login.ts';
import {
  requestPasswordReset,
  resetPassword,
  setInvitedPassword,
  validateMailedToken,
} from '../../../domain/access/access.passwords.reset.ts';
import { confirmRegistration, register } from '../../../domain/access/access.register.ts';
import { acceptedLanguages } from '../../../domain/kernel/metamodel/languages.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { registrationOpen, ssoConfigured } from '../../../domain/kernel/settings/settings.read.ts';
import { FilledText, object } from '../../../domain/kernel/shapes.ts';
import { finishSso, startSso } from '../../../integrations/access/sso/sso.flow.ts';
import { knownAuthorizationEndpoint } from '../../../integrations/access/sso/sso.issuer.ts';
import { settingsOf } from '../../app/settings/settings.routes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { CookieResponse, Email, Password, TokenResponse } from '../access.schemas.ts';
import { okResponse, tokenIssuer, tokenResponse } from './auth.issue.ts';

/** The token of a login, or the state of the registration. */
const registrationAnswer = (state: string, description: string) => ({
  200: {
    description,
    schema: Type.Union([TokenResponse, CookieResponse, object({ status: Type.Literal(state) })]),
    example: { status: state },
  },
});

/** Registration and login. */
export function registerAuthRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.post('register', '/api/v1/auth/register', {
    summary: 'Register; the first user becomes administrator',
    description:
      'The first user of a workspace sends the set-up token that the service wrote to its log at start, and gets an access token. Everybody else gets `confirmation_sent`, whether or not the address has an account, and a mail with the next step. Disabled unless the setting `registration` is on and a mail server is configured.',
    permission: 'public',
    secretResponse: true,
    body: object({
      email: Email,
      display_name: Type.String({ minLength: 1, maxLength: 200 }),
      password: Password,
      setup_token: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    responses: registrationAnswer(
      'confirmation_sent',
      'The address has to be confirmed, or the token of the first user',
    ),
    errors: ['registration_closed', 'too_many_requests'],
    handler: async ({ ctx, body, request, reply }) => {
      const subject = await register(ctx, { ...body, address: request.ip });
      return subject ? await issue(reply, subject) : { status: 'confirmation_sent' };
    },
  });

  routes.post('confirmRegistration', '/api/v1/auth/confirm-registration', {
    summary: 'Confirm the address of a registration, and log in',
    description:
      'Requires the token from the mail, which is valid once and for one day, and the registered password. If the workspace requires approval, the result is `approval_required` and the account is inactive until an administrator activates it.',
    permission: 'public',
    secretResponse: true,
    body: object({
      token: FilledText(200, 'The token from the mail'),
      password: Password,
    }),
    responses: registrationAnswer('approval_required', 'An access token, or `approval_required`'),
    errors: ['invalid_credentials', 'not_found', 'registration_closed', 'too_many_requests'],
    handler: async ({ ctx, body, request, reply }) => {
      const subject = await confirmRegistration(ctx, { ...body, ...clientOf(request) });
      return subject ? await issue(reply, subject) : { status: 'approval_required' };
    },
  });

  routes.post('login', '/api/v1/auth/login', {
    summary: 'Log in with e-mail address and password',
    description:
      'Five wrong passwords in a row lock logins by password alone for 15 minutes, five wrong codes those with a code; the responses for a wrong password, a locked and an unknown account are the same. While logins by password are locked, the password together with a `code` is accepted. `two_factor_required` means that the password is correct and the `code` of the authenticator, or a recovery code, is missing or wrong. A token with `two_factor_setup_required` can only be used to set up the second factor that the workspace requires.',
    permission: 'public',
    secretResponse: true,
    body: object({
      email: Type.String({ minLength: 1, maxLength: 320 }),
      password: Password,
      code: Type.Optional(FilledText(50, 'Code of the authenticator, or a recovery code')),
    }),
    responses: tokenResponse,
    errors: ['invalid_credentials', 'sso_required', 'too_many_requests', 'two_factor_required'],
    handler: async ({ ctx, body, request, reply }) =>
      issue(reply, await login(ctx, secrets, { ...body, ...clientOf(request) })),
  });
}

/** What a login knows of the client. */
const clientOf = ({ ip, headers }: FastifyRequest) => ({
  address: ip,
  languages: acceptedLanguages(headers['accept-language']),
});

const MailedToken = FilledText(200, 'The token from the mail');
const tokenQuery = object({ token: MailedToken });
const newPassword = object({ token: MailedToken, password: Password });
const validAnswer = ok(
  'The user of the token',
  object({ valid: Type.Literal(true), email: Type.String(), display_name: Type.String() }),
);

/** Invitations and forgotten passwords. */
export function registerPasswordRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.get('validateSetupToken', '/api/v1/auth/validate-setup-token', {
    summary: 'Validate an invitation token and return its user',
    permission: 'public',
    query: tokenQuery,
    responses: validAnswer,
    errors: ['not_found', 'too_many_requests'],
    handler: ({ ctx, query, request }) =>
      validateMailedToken(ctx, 'invitation', { ...query, address: request.ip }),
  });

  routes.post('setPassword', '/api/v1/auth/set-password', {
    summary: 'Set the first password with an invitation, and log in',
    permission: 'public',
    secretResponse: true,
    body: newPassword,
    responses: tokenResponse,
    errors: ['not_found', 'sso_required', 'too_many_requests'],
    handler: async ({ ctx, body, request, reply }) =>
      issue(reply, await setInvitedPassword(ctx, { ...body, address: request.ip })),
  });

  routes.post('forgotPassword', '/api/v1/auth/forgot-password', {
    summary: 'Request a mail to reset a forgotten password',
    description: 'The response, and its time, do not depend on whether the account exists.',
    permission: 'public',
    body: object({ email: Type.String({ minLength: 1, maxLength: 320 }) }),
    responses: ok(
      'Done',
      object({
        ok: Type.Literal(true),
        mail_configured: Type.Boolean({
          description: 'If false, no mail server is configured and none is sent: ask an administrator',
        }),
      }),
    ),
    errors: ['sso_required', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => ({
      ok: true as const,
      mail_configured: await requestPasswordReset(ctx, { ...body, address: request.ip }),
    }),
  });

  routes.get('validateResetToken', '/api/v1/auth/validate-reset-token', {
    summary: 'Validate a password reset token and return its user',
    permission: 'public',
    query: tokenQuery,
    responses: validAnswer,
    errors: ['not_found', 'too_many_requests'],
    handler: ({ ctx, query, request }) =>
      validateMailedToken(ctx, 'password-reset', { ...query, address: request.ip }),
  });

  routes.post('resetPassword', '/api/v1/auth/reset-password', {
    summary: 'Reset a forgotten password',
    description: 'All logins and personal tokens of the account end; a second factor remains.',
    permission: 'public',
    body: newPassword,
    responses: okResponse,
    errors: ['not_found', 'sso_required', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => {
      await resetPassword(ctx, { ...body, address: request.ip });
      return { ok: true };
    },
  });
}

const RedirectUri = Type.String({ format: 'uri', maxLength: 1000 });

/** Single sign-on by OpenID Connect. */
export function registerSsoRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.get('readSsoConfig', '/api/v1/auth/sso/config', {
    summary: 'Read the login methods, and whether users can register',
    permission: 'public',
    responses: ok(
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

  routes.post('startSso', '/api/v1/auth/sso/start', {
    summary: 'Start a login with the identity provider',
    description:
      'The client stores `state`, redirects the browser to `authorization_url`, and only accepts a redirect back with the same `state`. The service stores the nonce and the PKCE verifier.',
    permission: 'public',
    secretResponse: true,
    body: object({ redirect_uri: RedirectUri }),
    responses: ok(
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

  routes.post('finishSso', '/api/v1/auth/sso/callback', {
    summary: 'Complete a login with the identity provider',
    description:
      'Send the parameters that the provider has added to the redirect URL: `code`, `state`, and `iss` if present. The first login of a user creates the account.',
    permission: 'public',
    secretResponse: true,
    body: object({
      code: Type.String({ minLength: 1, maxLength: 4000 }),
      state: Type.String({ minLength: 1, maxLength: 500 }),
      redirect_uri: RedirectUri,
      iss: Type.Optional(Type.String({ maxLength: 1000 })),
    }),
    responses: tokenResponse,
    errors: ['invalid_credentials', 'sso_refused', 'too_many_requests', 'upstream_failed', 'wrong_state'],
    handler: async ({ ctx, body, request, reply }) =>
      issue(reply, await finishSso(services, ctx, { ...body, ...clientOf(request) })),
  });
}
