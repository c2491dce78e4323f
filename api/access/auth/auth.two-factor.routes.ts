import Type from 'typebox';
import {
  beginTwoFactor,
  confirmTwoFactor,
  disableTwoFactor,
  readTwoFactor,
  renewRecoveryCodes,
} from '../../../domain/access/two-factor.commands.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { FilledText, Nullable, object, Timestamp } from '../../../domain/kernel/shapes.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { Password } from '../access.schemas.ts';
import { tokenIssuer } from './auth.issue.ts';

const Code = Type.String({ minLength: 1, maxLength: 50 });
const proof = object({
  password: Password,
  code: Type.Optional(
    FilledText(50, 'Code of the authenticator, or a recovery code; required if a second factor is active'),
  ),
});
const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Each replaces one code of the authenticator; only returned here',
  examples: [['k3qf-72hd-mz5p-ax4e']],
});

/** Issues a new token for the current login, since all tokens of the account end. */
const fresh = {
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
};
const endsLogins = 'All tokens of the account’s logins end; the response contains a new one for this login.';

/** The caller's second factor: time-based one-time passwords of 30 seconds (RFC 6238). */
export function registerTwoFactorRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Authentication', permission: 'login', scope: 'account' });

  const issue = tokenIssuer(app);

  routes.get('readOwnTwoFactor', '/api/v1/auth/two-factor', {
    summary: 'Read whether the caller’s account has a second factor',
    duringSetup: true,
    responses: ok(
      'Its state',
      object({
        enabled: Type.Boolean(),
        pending: Type.Boolean({ description: 'Set up, but not yet confirmed' }),
        required: Type.Boolean({ description: 'Whether the workspace requires one' }),
        confirmed_at: Nullable(Timestamp),
        recovery_codes_left: Type.Integer(),
      }),
    ),
    handler: ({ ctx }) => readTwoFactor(ctx),
  });

  routes.post('beginTwoFactor', '/api/v1/auth/two-factor', {
    summary: 'Set up a second factor, or replace the present one',
    description: 'It becomes active when a code of it is sent to `/auth/two-factor/confirm`.',
    duringSetup: true,
    secretResponse: true,
    body: proof,
    responses: ok(
      'The secret for the authenticator',
      object({
        secret: Type.String({ description: 'In base 32' }),
        otpauth_uri: Type.String({ description: 'The URI for a QR code' }),
      }),
    ),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: ({ ctx, body }) => beginTwoFactor(ctx, secrets, body),
  });

  routes.post('confirmTwoFactor', '/api/v1/auth/two-factor/confirm', {
    summary: 'Activate the second factor with one of its codes',
    description: endsLogins,
    duringSetup: true,
    secretResponse: true,
    body: object({ code: Code }),
    responses: ok(
      'Recovery codes, and an access token without restrictions',
      object({
        recovery_codes: RecoveryCodes,
        ...fresh,
      }),
    ),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const { recoveryCodes, subject } = await confirmTwoFactor(ctx, secrets, body.code);
      return { recovery_codes: recoveryCodes, ...(await issue(subject)) };
    },
  });

  registerTwoFactorChangeRoutes(app, { secrets });
}

/** Operations on an active second factor. */
function registerTwoFactorChangeRoutes(app: App, { secrets }: Pick<Services, 'secrets'>): void {
  const routes = routesOf(app, { tag: 'Authentication', permission: 'login', scope: 'account' });

  const issue = tokenIssuer(app);
  routes.post('disableTwoFactor', '/api/v1/auth/two-factor/disable', {
    summary: 'Disable the caller’s second factor',
    description: endsLogins,
    secretResponse: true,
    body: proof,
    responses: ok('Done', object({ ok: Type.Literal(true), ...fresh })),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const subject = await disableTwoFactor(ctx, secrets, body);
      return { ok: true, ...(await issue(subject)) };
    },
  });

  routes.post('renewRecoveryCodes', '/api/v1/auth/two-factor/recovery-codes', {
    summary: 'Create new recovery codes and invalidate the old ones',
    description: endsLogins,
    secretResponse: true,
    body: proof,
    responses: ok('The codes', object({ recovery_codes: RecoveryCodes, ...fresh })),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body }) => {
      const { recoveryCodes, subject } = await renewRecoveryCodes(ctx, secrets, body);
      return { recovery_codes: recoveryCodes, ...(await issue(subject)) };
    },
  });
}
