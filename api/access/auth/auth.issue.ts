import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { TokenSubject } from '../../../domain/access/access.login.ts';
import { LOGIN_SECONDS } from '../../../domain/kernel/sessions.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import type { OperationResponse } from '../../operation.responses.ts';
import { TOKEN_SECONDS } from '../../plugins/access.ts';
import { claimsOf, issueCookie, SETUP_SECONDS } from '../../plugins/web-session.ts';
import type { App } from '../../types.ts';
import { CookieResponse, TokenResponse } from '../access.schemas.ts';

/**
 * Returns the function that signs access tokens. A client of the web interface gets the token as a cookie of the reply,
 * which no script can read.
 */
export function tokenIssuer(app: App) {
  return async (reply: FastifyReply, subject: TokenSubject) => {
    const setup = subject.setupOnly ? { two_factor_setup_required: true } : {};
    if (reply.request.isWebClient) {
      return { token_type: 'cookie', expires_in: await issueCookie(app, reply, subject), ...setup };
    }
    const now = Math.floor(Date.now() / 1000);
    const loginAt = subject.loginAt ?? now;
    const longest = subject.setupOnly ? SETUP_SECONDS : TOKEN_SECONDS;
    // a refreshed token also ends at the limit of the login
    const seconds = Math.max(1, Math.min(longest, loginAt + LOGIN_SECONDS - now));
    return {
      access_token: await app.jwt.sign(
        claimsOf(subject, randomUUID(), loginAt),
        // other options than the default ones create another signer
        seconds === TOKEN_SECONDS ? undefined : { expiresIn: seconds },
      ),
      token_type: 'bearer',
      expires_in: seconds,
      ...setup,
    };
  };
}

/** The response of logins. */
export const tokenResponse: Record<number, OperationResponse> = {
  200: {
    description:
      'An access token, valid for `expires_in` seconds: 24 hours, but at most until 30 days after the login; for the web interface a cookie',
    schema: Type.Union([TokenResponse, CookieResponse]),
    headers: ['Set-Cookie'],
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
