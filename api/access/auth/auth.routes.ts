import Type from 'typebox';
import { impersonate, refresh, stopImpersonating } from '../../../domain/access/access.impersonate.ts';
import { login } from '../../../domain/access/access.login.ts';
import { confirmRegistration } from '../../../domain/access/access.register.confirm.ts';
import { register } from '../../../domain/access/access.register.ts';
import { logout } from '../../../domain/access/access.tokens.ts';
import { readMe } from '../../../domain/access/users.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { routesOf } from '../../operation.ts';
import { Email, MeSchema, Password, TokenAnswer } from '../../schemas/access.ts';
import type { App } from '../../types.ts';
import { doneAnswer, tokenAnswer, tokenIssuer } from './auth.issue.ts';

/** The token of a login, or in which state the registration is instead. */
const registrationAnswer = (state: string, description: string) => ({
  200: {
    description,
    schema: Type.Union([TokenAnswer, object({ status: Type.Literal(state) })]),
    example: { status: state },
  },
});

/** Registration, login, refresh, logout, impersonation and the own account. */
export function registerAuthRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.post('/api/v1/auth/register', {
    id: 'register',
    summary: 'Register; the first user becomes administrator',
    description:
      'The first user of a workspace shows the set-up token that the service wrote to its log at start, and is answered an access token. Everybody else is answered `confirmation_sent`, whether or not the address has an account: a mail to it says how to go on. Off unless the setting `registration` is on and a mail server is set up.',
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
      'The address has to be confirmed, or the first user’s token',
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
      'Takes the mailed token, which works for a day and once, and the password that was registered. Where the workspace demands approval, the answer is `approval_required`, and the account is inactive until an administrator activates it.',
    permission: 'public',
    secretAnswer: true,
    body: object({
      token: Type.String({ minLength: 1, maxLength: 200, description: 'As it was mailed' }),
      password: Password,
    }),

    answers: registrationAnswer(
      'approval_required',
      'An access token, or that the account waits for approval',
    ),
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
      'Five wrong passwords in a row lock logins by password alone for 15 minutes, five wrong codes those with a code; wrong, locked and unknown answer alike. While an account is locked, its password and `code` in one request pass. `two_factor_required` means that the password is right and the `code` of the authenticator, or a recovery code, is missing or wrong. A token with `two_factor_setup_required` only serves to set up the second factor that the workspace demands.',
    permission: 'public',
    secretAnswer: true,
    body: object({
      email: Type.String({ minLength: 1, maxLength: 320 }),
      password: Password,
      code: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 50,
          description: 'Of the authenticator, or a recovery code',
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

/** What a logged-in caller does with a session. */
function registerSessionRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);
  routes.post('/api/v1/auth/refresh', {
    id: 'refreshToken',
    summary: 'Get a fresh token while the present one is valid',
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    answers: tokenAnswer,
    errors: ['session_required'],
    handler: async ({ ctx }) => issue(await refresh(ctx)),
  });

  routes.post('/api/v1/auth/impersonate', {
    id: 'impersonate',
    summary: 'Look at the service as another role',
    description:
      'The token holds that role’s permissions as far as the caller holds them too. The caller stays who he is, and every event names the role besides. Neither `admin` nor the own role.',
    permission: 'admin.impersonate',
    secretAnswer: true,
    body: object({ role: Type.String({ minLength: 1, maxLength: 64 }) }),

    answers: tokenAnswer,
    errors: ['conflict', 'session_required'],
    handler: async ({ ctx, body }) => issue(await impersonate(ctx, body.role)),
  });

  routes.post('/api/v1/auth/stop-impersonating', {
    id: 'stopImpersonating',
    summary: 'Go back to the own role',
    description: 'The presented token ends when it carried another role.',
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    answers: tokenAnswer,
    errors: ['session_required'],
    handler: async ({ ctx }) => issue(await stopImpersonating(ctx)),
  });

  routes.post('/api/v1/auth/logout', {
    id: 'logout',
    summary: 'Revoke the presented token',
    description:
      'Answers the same without a valid token. Personal and service tokens are revoked under `/tokens`.',
    permission: 'public',
    answers: doneAnswer,
    handler: async ({ ctx }) => {
      await logout(ctx);
      return { ok: true };
    },
  });

  routes.get('/api/v1/auth/me', {
    id: 'readMe',
    summary: 'Read the own account with its effective permissions',
    permission: 'login',
    duringSetup: true,
    answers: { 200: { description: 'The account', schema: MeSchema } },
    handler: ({ ctx }) => readMe(ctx),
  });
}
