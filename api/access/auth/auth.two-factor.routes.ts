import Type, { type TProperties } from 'typebox';
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
import { cookie, Password, token } from '../access.schemas.ts';
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

/** The response with a new token or cookie for the current login, since all tokens of the account end. */
const fresh = (description: string, members: TProperties) =>
  ok(
    description,
    Type.Union([object({ ...members, ...token }), object({ ...members, ...cookie })]),
    'Set-Cookie',
  );
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
    responses: fresh('Recovery codes, and an access token without restrictions', {
      recovery_codes: RecoveryCodes,
    }),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body, reply }) => {
      const { recoveryCodes, subject } = await confirmTwoFactor(ctx, secrets, body.code);
      return { recovery_codes: recoveryCodes, ...(await issue(reply, subject)) };
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
    responses: fresh('Done', { ok: Type.Literal(true) }),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body, reply }) => {
      const subject = await disableTwoFactor(ctx, secrets, body);
      return { ok: true, ...(await issue(reply, subject)) };
    },
  });

  routes.post('renewRecoveryCodes', '/api/v1/auth/two-factor/recovery-codes', {
    summary: 'Create new recovery codes and invalidate the old ones',
    description: endsLogins,
    secretResponse: true,
    body: proof,
    responses: fresh('The codes', { recovery_codes: RecoveryCodes }),
    errors: ['session_required', 'too_many_requests', 'wrong_state'],
    handler: async ({ ctx, body, reply }) => {
      const { recoveryCodes, subject } = await renewRecoveryCodes(ctx, secrets, body);
      return { recovery_codes: recoveryCodes, ...(await issue(reply, subject)) };
    },
  });
}
