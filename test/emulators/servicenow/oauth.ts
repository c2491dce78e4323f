import { createHash } from 'node:crypto';
import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import type { Answer } from '../http.ts';

type Grant = 'password' | 'refresh_token' | 'client_credentials';

export interface OauthClient {
  id: string;
  secret: string;
  grants: Grant[];
  /** Who acts with a token got by client credentials. */
  user?: string;
}

interface Token {
  user: string;
  client: string;
  expires: number;
}

const ACCESS_SECONDS = 1_800;
const REFRESH_SECONDS = 8_640_000;

/** The tokens of an instance. */
export class Oauth {
  /** A refresh token counts once, and another comes in its place. */
  rotates = false;
  readonly #clock: Clock;
  readonly #clients: OauthClient[];
  readonly #check: (user: string, password: string) => boolean;
  readonly #access = new Map<string, Token>();
  readonly #refresh = new Map<string, Token>();
  #count = 0;

  constructor(clock: Clock, clients: OauthClient[], check: (user: string, password: string) => boolean) {
    this.#clock = clock;
    this.#clients = clients;
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
  grant(user: string, client: string): string {
    return this.#token(this.#refresh, user, client, REFRESH_SECONDS);
  }

  /** POST /oauth_token.do */
  answer(contentType: string, body: string): Answer {
    if (!contentType.startsWith('application/x-www-form-urlencoded')) return refused('invalid_request');
    const form = new URLSearchParams(body);
    const grant = form.get('grant_type') as Grant;
    const client = this.#clients.find(
      ({ id, secret }) => id === form.get('client_id') && secret === form.get('client_secret'),
    );
    if (!client) return refused('invalid_client');
    if (!client.grants.includes(grant)) return refused('unsupported_grant_type');
    if (grant === 'client_credentials')
      return client.user ? this.#issue(client, client.user, undefined) : refused('access_denied');
    if (grant === 'refresh_token') {
      const text = form.get('refresh_token') ?? '';
      const known = this.#refresh.get(text);
      if (!known || known.client !== client.id || known.expires <= this.#clock.now())
        return refused('access_denied');
      if (!this.rotates) return this.#issue(client, known.user, text);
      this.#refresh.delete(text);
      const next = this.#token(this.#refresh, known.user, client.id, REFRESH_SECONDS);
      return this.#issue(client, known.user, next);
    }
    const user = form.get('username') ?? '';
    if (!this.#check(user, form.get('password') ?? '')) return refused('access_denied');
    const known = [...this.#refresh].find(
      ([, token]) => token.user === user && token.client === client.id && token.expires > this.#clock.now(),
    );
    return this.#issue(
      client,
      user,
      known?.[0] ?? this.#token(this.#refresh, user, client.id, REFRESH_SECONDS),
    );
  }

  // while an access token is valid, it is the one that is given again
  #issue(client: OauthClient, user: string, refresh: string | undefined): Answer {
    const now = this.#clock.now();
    const current = [...this.#access].find(
      ([, token]) => token.user === user && token.client === client.id && token.expires > now,
    );
    const access = current?.[0] ?? this.#token(this.#access, user, client.id, ACCESS_SECONDS);
    return {
      status: 200,
      body: {
        access_token: access,
        ...(refresh ? { refresh_token: refresh } : {}),
        scope: 'useraccount',
        token_type: 'Bearer',
        expires_in: Math.floor((this.#access.get(access)!.expires - now) / 1000),
      },
    };
  }

  #token(into: Map<string, Token>, user: string, client: string, seconds: number): string {
    this.#count += 1;
    const text = createHash('sha256').update(`${client}:${user}:${this.#count}`).digest('base64url');
    into.set(text, { user, client, expires: this.#clock.now() + seconds * 1000 });
    return text;
  }
}

const refused = (error: string): Answer => ({
  status: 401,
  body: { error, error_description: 'access_denied' },
});
