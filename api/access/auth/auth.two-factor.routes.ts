import Type from 'typebox';
import {
  beginTwoFactor,
  confirmTwoFactor,
  disableTwoFactor,
  readTwoFactor,
  renewRecoveryCodes,
} from '../../../domain/access/two-factor.commands.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Nullable, object, Timestamp } from '../../../domain/kernel/shapes.ts';
import { routesOf } from '../../operation.ts';
import { Password } from '../../schemas/access.ts';
import type { App } from '../../types.ts';
import { tokenIssuer } from './auth.issue.ts';

const Code = Type.String({ minLength: 1, maxLength: 50 });
const proof = object({
  password: Password,
  code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description: 'Of the authenticator, or a recovery code; needed where a second factor is in force',
    }),
  ),
});
const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Each takes the place of one code of the authenticator; shown this once',
  examples: [['k3qf-72hd-mz5p-ax4e']],
});

/** Goes on with the present login, since all tokens of the account end. */
const fresh = {
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
};
const endsLogins = 'All tokens of the account’s logins end; the answer holds a fresh one for this login.';

/** The own second factor: codes of an authenticator that change every 30 seconds (RFC 6238). */
export function registerTwoFactorRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);

  routes.get('/api/v1/auth/two-factor', {
    id: 'readOwnTwoFactor',
    summary: 'Read whether the own account has a second factor',
    permission: 'login',
    scope: 'account',
    duringSetup: true,
    answers: {
      200: {
        description: 'Its state',
        schema: object({
          enabled: Type.Boolean(),
          pending: Type.Boolean({ description: 'Begun, and not yet confirmed' }),
          required: Type.Boolean({ description: 'Whether the workspace demands one' }),
          confirmed_at: Nullable(Timestamp),
          recovery_codes_left: Type.Integer(),
        }),
      },
    },
    handler: ({ ctx }) => readTwoFactor(ctx),
  });

  routes.post('/api/v1/auth/two-factor', {
    id: 'beginTwoFactor',
    summary: 'Begin a second factor, or another in place of the present one',
    description: 'It is in force once a code of it was shown to `/auth/two-factor/confirm`.',
    permission: 'login',
    scope: 'account',
    duringSetup: true,
    secretAnswer: true,
    body: proof,

    answers: {
      200: {
        description: 'What the authenticator needs',
        schema: object({
          secret: Type.String({ description: 'In base 32' }),
          otpauth_uri: Type.String({ description: 'For a QR code' }),
        }),
      },
    },
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: ({ ctx, body }) => beginTwoFactor(ctx, secrets, body),
  });

  routes.post('/api/v1/auth/two-factor/confirm', {
    id: 'confirmTwoFactor',
    summary: 'Put the begun second factor in force by a code of it',
    description: endsLogins,
    permission: 'login',
    scope: 'account',
    duringSetup: true,
    secretAnswer: true,
    body: object({ code: Code }),

    answers: {
      200: {
        description: 'Recovery codes, and an access token for the whole service',
        schema: object({
          recovery_codes: RecoveryCodes,
          ...fresh,
        }),
      },
    },
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const { recoveryCodes, subject } = await confirmTwoFactor(ctx, secrets, body.code);
      return { recovery_codes: recoveryCodes, ...(await issue(subject)) };
    },
  });

  registerTwoFactorChangeRoutes(app, { secrets });
}

/** Changes of an active second factor. */
function registerTwoFactorChangeRoutes(app: App, { secrets }: Pick<Services, 'secrets'>): void {
  const routes = routesOf(app, { tag: 'Authentication' });

  const issue = tokenIssuer(app);
  routes.post('/api/v1/auth/two-factor/disable', {
    id: 'disableTwoFactor',
    summary: 'Take the own second factor out of force',
    description: endsLogins,
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    body: proof,

    answers: {
      200: {
        description: 'Done',
        schema: object({ ok: Type.Literal(true), ...fresh }),
      },
    },
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const subject = await disableTwoFactor(ctx, secrets, body);
      return { ok: true, ...(await issue(subject)) };
    },
  });

  routes.post('/api/v1/auth/two-factor/recovery-codes', {
    id: 'renewRecoveryCodes',
    summary: 'Get new recovery codes; the old ones stop working',
    description: endsLogins,
    permission: 'login',
    scope: 'account',
    secretAnswer: true,
    body: proof,

    answers: {
      200: {
        description: 'The codes',
        schema: object({ recovery_codes: RecoveryCodes, ...fresh }),
      },
    },
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const { recoveryCodes, subject } = await renewRecoveryCodes(ctx, secrets, body);
      return { recovery_codes: recoveryCodes, ...(await issue(subject)) };
    },
  });
}
