import Type from 'typebox';
import { impersonate, refresh, stopImpersonating } from '../../../domain/access/access.impersonate.ts';
import { login } from '../../../domain/access/access.login.ts';
import { confirmRegistration } from '../../../domain/access/access.register.confirm.ts';
import { register } from '../../../domain/access/access.register.ts';
import { logout } from '../../../domain/access/access.tokens.ts';
import { readMe } from '../../../domain/access/users.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { Email, MeSchema, Password, TokenAnswer } from '../../schemas/access.ts';
import type { App } from '../../types.ts';
import { doneAnswer, tokenAnswer, tokenIssuer } from './auth.issue.ts';

/** The token of a login, or the state of the registration. */
const registrationAnswer = (state: string, description: string) => ({
  200: {
    description,
    schema: Type.Union([TokenAnswer, object({ status: Type.Literal(state) })]),
    example: { status: state },
  },
});

/** Registration, login, refresh, logout, impersonation and the caller's account. */
export function registerAuthRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.post('/api/v1/auth/register', {
    id: 'register',
    summary: 'Register; the first user becomes administrator',
    description:
      'The first user of a workspace sends the set-up token that the service wrote to its log at start, and gets an access token. Everybody else gets `confirmation_sent`, whether or not the address has an account, and a mail with the next step. Disabled unless the setting `registration` is on and a mail server is configured.',
    permission: 'public',
    secretAnswer: true,
    body: object({
      email: Email,
      display_name: Type.String({ minLength: 1, maxLength: 200 }),
      password: Password,
      setup_token: Type.Optional(Type.String({ maxLength: 200 })),
    }),

    answers: registrationAnswer(
      'confirmation_sent',
      'The address has to be confirmed, or the token of the first user',
    ),
    errors: ['registration_closed', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => {
      const subject = await register(ctx, { ...body, address: request.ip });
      return subject ? await issue(subject) : { status: 'confirmation_sent' };
    },
  });

  routes.post('/api/v1/auth/confirm-registration', {
    id: 'confirmRegistration',
    summary: 'Confirm the address of a registration, and log in',
    description:
      'Requires the token from the mail, which is valid once and for one day, and the registered password. If the workspace requires approval, the result is `approval_required` and the account is inactive until an administrator activates it.',
    permission: 'public',
    secretAnswer: true,
    body: object({
      token: Type.String({ minLength: 1, maxLength: 200, description: 'The token from the mail' }),
      password: Password,
    }),

    answers: registrationAnswer('approval_required', 'An access token, or `approval_required`'),
    errors: ['invalid_credentials', 'not_found', 'registration_closed', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => {
      const subject = await confirmRegistration(ctx, { ...body, address: request.ip });
      return subject ? await issue(subject) : { status: 'approval_required' };
    },
  });

  routes.post('/api/v1/auth/login', {
    id: 'login',
    summary: 'Log in with e-mail address and password',
    description:
      'Five wrong passwords in a row lock logins by password alone for 15 minutes, five wrong codes those with a code; the responses for a wrong password, a locked and an unknown account are the same. While logins by password are locked, the password together with a `code` is accepted. `two_factor_required` means that the password is correct and the `code` of the authenticator, or a recovery code, is missing or wrong. A token with `two_factor_setup_required` can only be used to set up the second factor that the workspace requires.',
    permission: 'public',
    secretAnswer: true,
    body: object({
      email: Type.String({ minLength: 1, maxLength: 320 }),
      password: Password,
      code: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 50,
          description: 'Code of the authenticator, or a recovery code',
        }),
      ),
    }),

    answers: tokenAnswer,
    errors: ['invalid_credentials', 'sso_required', 'too_many_requests', 'two_factor_required'],
    handler: async ({ ctx, body, request }) =>
      issue(await login(ctx, secrets, { ...body, address: request.ip })),
  });

  registerSessionRoutes(app);
}

/** Operations on the caller's session. */
function registerSessionRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);
  routes.post('/api/v1/auth/refresh', {
    id: 'refreshToken',
    summary: 'Get a new token while the current one is valid',
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    answers: tokenAnswer,
    errors: ['session_required'],
    handler: async ({ ctx }) => issue(await refresh(ctx)),
  });

  routes.post('/api/v1/auth/impersonate', {
    id: 'impersonate',
    summary: 'Impersonate another role',
    description:
      'The token has the permissions of that role that the caller has too. Every event still names the caller, and the role in addition. Not for `admin` or the caller’s own role.',
    permission: 'admin.impersonate',
    secretAnswer: true,
    body: object({ role: Type.String({ minLength: 1, maxLength: 64 }) }),

    answers: tokenAnswer,
    errors: ['conflict', 'session_required'],
    handler: async ({ ctx, body }) => issue(await impersonate(ctx, body.role)),
  });

  routes.post('/api/v1/auth/stop-impersonating', {
    id: 'stopImpersonating',
    summary: 'Stop impersonating a role',
    description: 'The token of the request ends if it was one of an impersonation.',
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    answers: tokenAnswer,
    errors: ['session_required'],
    handler: async ({ ctx }) => issue(await stopImpersonating(ctx)),
  });

  routes.post('/api/v1/auth/logout', {
    id: 'logout',
    summary: 'Log out: revoke the token of the request',
    description:
      'The response is the same without a valid token. Personal and service tokens are revoked under `/tokens`.',
    permission: 'public',
    answers: doneAnswer,
    handler: async ({ ctx }) => {
      await logout(ctx);
      return { ok: true };
    },
  });

  routes.get('/api/v1/auth/me', {
    id: 'readMe',
    summary: 'Read the caller’s account with its effective permissions',
    permission: 'login',
    duringSetup: true,
    answers: ok('The account', MeSchema),
    handler: ({ ctx }) => readMe(ctx),
  });
}
