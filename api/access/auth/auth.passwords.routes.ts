import Type from 'typebox';
import {
  requestPasswordReset,
  resetPassword,
  setInvitedPassword,
  validateMailedToken,
} from '../../../domain/access/access.passwords.reset.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { routesOf } from '../../operation.ts';
import { Password } from '../../schemas/access.ts';
import type { App } from '../../types.ts';
import { doneAnswer, tokenAnswer, tokenIssuer } from './auth.issue.ts';

const MailedToken = Type.String({ minLength: 1, maxLength: 200, description: 'As it was mailed' });
const tokenQuery = object({ token: MailedToken });
const newPassword = object({ token: MailedToken, password: Password });
const validAnswer = {
  200: {
    description: 'Whose token it is',
    schema: object({ valid: Type.Literal(true), email: Type.String(), display_name: Type.String() }),
  },
};

/** The first password of who was invited, and a new one for who has forgotten it. */
export function registerPasswordRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.get('/api/v1/auth/validate-setup-token', {
    id: 'validateSetupToken',
    summary: 'Say whose invitation a token is',
    permission: 'public',
    query: tokenQuery,
    answers: validAnswer,
    errors: ['not_found', 'too_many_requests'],
    handler: ({ ctx, query, request }) =>
      validateMailedToken(ctx, 'invitation', { ...query, address: request.ip }),
  });

  routes.post('/api/v1/auth/set-password', {
    id: 'setPassword',
    summary: 'Choose the first password with an invitation, and log in',
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
    summary: 'Ask for a mail with which a forgotten password is replaced',
    description: 'The answer, and its time, are the same whether or not there is such an account.',
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
    summary: 'Say whose new password a token is for',
    permission: 'public',
    query: tokenQuery,
    answers: validAnswer,
    errors: ['not_found', 'too_many_requests'],
    handler: ({ ctx, query, request }) =>
      validateMailedToken(ctx, 'password-reset', { ...query, address: request.ip }),
  });

  routes.post('/api/v1/auth/reset-password', {
    id: 'resetPassword',
    summary: 'Replace a forgotten password',
    description: 'All logins and own tokens of the account end; a second factor stays.',
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
