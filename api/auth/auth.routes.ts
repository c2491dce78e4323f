import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import { login, type TokenSubject } from '../../domain/access/access.login.ts';
import { register } from '../../domain/access/access.register.ts';
import { logout, refresh } from '../../domain/access/access.tokens.ts';
import { readMe } from '../../domain/access/users.queries.ts';
import { operation } from '../operation.ts';
import { TOKEN_SECONDS } from '../plugins/access.ts';
import { Email, MeSchema, TokenAnswer } from '../schemas/access.ts';
import { closed } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Authentication';
const Password = Type.String({ minLength: 1, maxLength: 1000 });
const tokenAnswer = {
  200: {
    description: 'An access token, valid for 24 hours',
    schema: Type.Ref('Token#'),
    example: {
      access_token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
      token_type: 'bearer',
      expires_in: TOKEN_SECONDS,
    },
  },
};

/** Registration, login, refresh, logout and the own account. */
export function registerAuthRoutes(app: App): void {
  app.addSchema(TokenAnswer);
  app.addSchema(MeSchema);

  const issue = async (subject: TokenSubject) => ({
    access_token: await app.jwt.sign({
      sub: subject.userId,
      role: subject.role,
      tv: subject.tokenVersion,
      jti: randomUUID(),
    }),
    token_type: 'bearer',
    expires_in: TOKEN_SECONDS,
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/auth/register',
    id: 'register',
    tag,
    summary: 'Register; the first user becomes administrator',
    description:
      'The first user of a workspace shows the set-up token that the service wrote to its log at start.',
    permission: 'public',
    body: Type.Object(
      {
        email: Email,
        display_name: Type.String({ minLength: 1, maxLength: 200 }),
        password: Password,
        setup_token: Type.Optional(Type.String({ maxLength: 200 })),
      },
      closed,
    ),
    bodyExample: { email: 'ada@example.org', display_name: 'Ada', password: 'four random words here' },
    answers: tokenAnswer,
    errors: ['email_taken', 'registration_closed', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => issue(await register(ctx, { ...body, address: request.ip })),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/auth/login',
    id: 'login',
    tag,
    summary: 'Log in with e-mail address and password',
    description:
      'Five wrong passwords in a row lock the account for 15 minutes; wrong, locked and unknown answer alike.',
    permission: 'public',
    body: Type.Object({ email: Type.String({ minLength: 1, maxLength: 320 }), password: Password }, closed),
    bodyExample: { email: 'ada@example.org', password: 'four random words here' },
    answers: tokenAnswer,
    errors: ['invalid_credentials', 'too_many_requests'],
    handler: async ({ ctx, body, request }) => issue(await login(ctx, { ...body, address: request.ip })),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/auth/refresh',
    id: 'refreshToken',
    tag,
    summary: 'Get a fresh token while the present one is valid',
    permission: 'login',
    answers: tokenAnswer,
    handler: async ({ ctx }) => issue(await refresh(ctx)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/auth/logout',
    id: 'logout',
    tag,
    summary: 'Revoke the presented token',
    description: 'Answers the same without a valid token.',
    permission: 'public',
    answers: {
      200: {
        description: 'Done',
        schema: Type.Object({ ok: Type.Literal(true) }, closed),
        example: { ok: true },
      },
    },
    handler: async ({ ctx }) => {
      await logout(ctx);
      return { ok: true };
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/auth/me',
    id: 'readMe',
    tag,
    summary: 'Read the own account with its effective permissions',
    permission: 'login',
    answers: { 200: { description: 'The account', schema: Type.Ref('Me#') } },
    handler: ({ ctx }) => readMe(ctx),
  });
}
