import { randomUUID } from 'node:crypto';
import Type from 'typebox';
import type { TokenSubject } from '../../domain/access/access.login.ts';
import { closed } from '../../domain/shapes.ts';
import { TOKEN_SECONDS } from '../plugins/access.ts';
import type { App } from '../types.ts';

/** Life in seconds of a token that only serves to set up the second factor. */
const SETUP_SECONDS = 15 * 60;

/** Makes the access token of a login, with what clients are told of it. */
export function tokenIssuer(app: App) {
  return async (subject: TokenSubject) => {
    const seconds = subject.setupOnly ? SETUP_SECONDS : TOKEN_SECONDS;
    return {
      access_token: await app.jwt.sign(
        {
          sub: subject.userId,
          role: subject.role,
          tv: subject.tokenVersion,
          jti: randomUUID(),
          ...(subject.impersonatedRole ? { impersonated_role: subject.impersonatedRole } : {}),
          ...(subject.setupOnly ? { use: 'two_factor_setup' as const } : {}),
        },
        // a signer of its own is made for other options than the usual ones
        subject.setupOnly ? { expiresIn: seconds } : undefined,
      ),
      token_type: 'bearer',
      expires_in: seconds,
      ...(subject.setupOnly ? { two_factor_setup_required: true } : {}),
    };
  };
}

/** The answer of whatever logs somebody in. */
export const tokenAnswer = {
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

/** The answer of what has nothing to tell. */
export const doneAnswer = {
  200: {
    description: 'Done',
    schema: Type.Object({ ok: Type.Literal(true) }, closed),
    example: { ok: true },
  },
};
