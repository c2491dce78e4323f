import Type from 'typebox';
import { component, OptionalFlag } from '../../domain/kernel/shapes.ts';

export const Email = Type.String({ format: 'email', maxLength: 320 });

/** A password as sent; the rules for new ones depend on the user. */
export const Password = Type.String({ minLength: 1, maxLength: 1000 });

export const token = {
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  two_factor_setup_required: OptionalFlag('Whether the token can only be used to set up the second factor'),
};

export const TokenResponse = component('Token', token);

/** What a client of the web interface gets instead of a token. */
export const cookie = {
  token_type: Type.Literal('cookie'),
  expires_in: token.expires_in,
  two_factor_setup_required: OptionalFlag('Whether the session can only be used to set up the second factor'),
};

export const CookieResponse = component('SessionCookie', cookie, {
  description: 'For the web interface: the token of the login is the cookie of the response',
});
