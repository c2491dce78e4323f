import Type from 'typebox';
import {
  requestPasswordReset,
  resetPassword,
  setInvitedPassword,
  validateMailedToken,
} from '../../../domain/access/access.passwords.reset.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import { Password } from '../../schemas/access.ts';
import type { App } from '../../types.ts';
import { doneAnswer, tokenAnswer, tokenIssuer } from './auth.issue.ts';

const MailedToken = Type.String({ minLength: 1, maxLength: 200, description: 'The token from the mail' });
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

  routes.get('/api/v1/auth/validate-setup-token', {
    id: 'validateSetupToken',
    summary: 'Validate an invitation token and return its user',
    permission: 'public',
    query: tokenQuery,
    answers: validAnswer,
    errors: ['not_found', 'too_many_requests'],
    handler: ({ ctx, query, request }) =>
      validateMailedToken(ctx, 'invitation', { ...query, address: request.ip }),
  });

  routes.post('/api/v1/auth/set-password', {
    id: 'setPassword',
    summary: 'Set the first password with an invitation, and log in',
    permission: 'public',
    secretAnswer: true,
    body: newPassword,

    answers: tokenAnswer,
    errors: ['not_found', 'sso_required', 'too_many_requests'],
    handler: async ({ ctx, body, request }) =>
      issue(await setInvitedPassword(ctx, { ...body, address: request.ip })),
  });

  routes.post('/api/v1/auth/forgot-password', {
    id: 'forgotPassword',
    summary: 'Request a mail to reset a forgotten password',
    description: 'The response, and its time, do not depend on whether the account exists.',
    permission: 'public',
    body: object({ email: Type.String({ minLength: 1, maxLength: 320 }) }),
    answers: doneAnswer,
    errors: ['sso_required', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => {
      await requestPasswordReset(ctx, { ...body, address: request.ip });
      return { ok: true };
    },
  });

  routes.get('/api/v1/auth/validate-reset-token', {
    id: 'validateResetToken',
    summary: 'Validate a password reset token and return its user',
    permission: 'public',
    query: tokenQuery,
    answers: validAnswer,
    errors: ['not_found', 'too_many_requests'],
    handler: ({ ctx, query, request }) =>
      validateMailedToken(ctx, 'password-reset', { ...query, address: request.ip }),
  });

  routes.post('/api/v1/auth/reset-password', {
    id: 'resetPassword',
    summary: 'Reset a forgotten password',
    description: 'All logins and personal tokens of the account end; a second factor remains.',
    permission: 'public',
    body: newPassword,

    answers: doneAnswer,
    errors: ['not_found', 'sso_required', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => {
      await resetPassword(ctx, { ...body, address: request.ip });
      return { ok: true };
    },
  });
}
