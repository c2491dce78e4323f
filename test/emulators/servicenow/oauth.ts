import { createHash } from 'node:crypto';
import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import type { Response } from '../http.ts';

type Token = { user: string; expires: number };

/** The client of an instance, and who acts with a token that it gets by its credentials. */
const client = { id: 'estate-client', secret: 'client secret', user: 'estate' };

const ACCESS_SECONDS = 1_800;
const REFRESH_SECONDS = 8_640_000;

/** The tokens of an instance. */
export class Oauth {
  /** A refresh token counts once, and another comes in its place. */
  rotates = false;
  readonly #clock: Clock;
  readonly #check: (user: string, password: string) => boolean;
  readonly #access = new Map<string, Token>();
  readonly #refresh = new Map<string, Token>();
  #count = 0;

  constructor(clock: Clock, check: (user: string, password: string) => boolean) {
    this.#clock = clock;
    this.#check = check;
  }

  /** Whose token it is, while it is valid. */
  userOf(token: string): string | undefined {
    const found = this.#access.get(token);
    return found && found.expires > this.#clock.now() ? found.user : undefined;
  }

  /** Every access token ends now; `refresh`: those that renew them too. */
  expireAll(refresh = false): void {
    this.#access.clear();
    if (refresh) this.#refresh.clear();
  }

  /** A refresh token as a person is given one who signs in with a browser. */
  grant(user: string): string {
    return this.#token(this.#refresh, user, REFRESH_SECONDS);
  }

  /** POST /oauth_token.do */
  answer(contentType: string, body: string): Response {
    if (!contentType.startsWith('application/x-www-form-urlencoded')) return refused('invalid_request');
    const form = new URLSearchParams(body);
    if (form.get('client_id') !== client.id || form.get('client_secret') !== client.secret)
      return refused('invalid_client');
    const grant = form.get('grant_type');
    if (grant === 'client_credentials') return this.#issue(client.user, undefined);
    if (grant === 'refresh_token') {
      const text = form.get('refresh_token') ?? '';
      const known = this.#refresh.get(text);
      if (!known || known.expires <= this.#clock.now()) return refused('access_denied');
      if (!this.rotates) return this.#issue(known.user, text);
      this.#refresh.delete(text);
      return this.#issue(known.user, this.grant(known.user));
    }
    const user = form.get('username') ?? '';
    if (!this.#check(user, form.get('password') ?? '')) return refused('access_denied');
    return this.#issue(user, this.#current(this.#refresh, user) ?? this.grant(user));
  }

  /** The token that a user has and that is valid. */
  #current(of: Map<string, Token>, user: string): string | undefined {
    return [...of].find(([, token]) => token.user === user && token.expires > this.#clock.now())?.[0];
  }

  // while an access token is valid, it is the one that is given again
  #issue(user: string, refresh: string | undefined): Response {
    const access = this.#current(this.#access, user) ?? this.#token(this.#access, user, ACCESS_SECONDS);
    return {
      status: 200,
      body: {
        access_token: access,
        ...(refresh ? { refresh_token: refresh } : {}),
        scope: 'useraccount',
        token_type: 'Bearer',
        expires_in: Math.floor((this.#access.get(access)!.expires - this.#clock.now()) / 1000),
      },
    };
  }

  #token(into: Map<string, Token>, user: string, seconds: number): string {
    this.#count += 1;
    const text = createHash('sha256').update(`${user}:${this.#count}`).digest('base64url');
    into.set(text, { user, expires: this.#clock.now() + seconds * 1000 });
    return text;
  }
}

const refused = (error: string): Response => ({
  status: 401,
  body: { error, error_description: 'access_denied' },
});
