import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import type { TokenSubject } from '../../../domain/access/access.login.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { LOGIN_SECONDS, TOKEN_SECONDS } from '../../plugins/access.ts';
import type { App } from '../../types.ts';
import { TokenResponse } from '../access.schemas.ts';

/** Lifetime in seconds of a token that can only be used to set up the second factor. */
const SETUP_SECONDS = 15 * 60;

/** Returns the function that signs access tokens. */
export function tokenIssuer(app: App) {
  return async (subject: TokenSubject) => {
    const now = Math.floor(Date.now() / 1000);
    const loginAt = subject.loginAt ?? now;
    const longest = subject.setupOnly ? SETUP_SECONDS : TOKEN_SECONDS;
    // a refreshed token also ends at the limit of the login
    const seconds = Math.max(1, Math.min(longest, loginAt + LOGIN_SECONDS - now));
    return {
      access_token: await app.jwt.sign(
        {
          sub: subject.userId,
          role: subject.role,
          tv: subject.tokenVersion,
          jti: randomUUID(),
          auth_time: loginAt,
          ...(subject.impersonatedRole ? { impersonated_role: subject.impersonatedRole } : {}),
          ...(subject.setupOnly ? { use: 'two_factor_setup' as const } : {}),
        },
        // other options than the default ones create another signer
        seconds === TOKEN_SECONDS ? undefined : { expiresIn: seconds },
      ),
      token_type: 'bearer',
      expires_in: seconds,
      ...(subject.setupOnly ? { two_factor_setup_required: true } : {}),
    };
  };
}

/** The response of logins. */
export const tokenResponse = {
  200: {
    description:
      'An access token, valid for `expires_in` seconds: 24 hours, but at most until 30 days after the login',
    schema: TokenResponse,
    example: {
      access_token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
      token_type: 'bearer',
      expires_in: TOKEN_SECONDS,
    },
  },
};

/** The response of operations without a result. */
export const okResponse = {
  200: {
    description: 'Done',
    schema: object({ ok: Type.Literal(true) }),
    example: { ok: true },
  },
};
