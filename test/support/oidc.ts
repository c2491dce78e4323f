import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';
import { changeSetting } from '../../domain/app/settings/settings.change.ts';
import type { TestApp } from './harness.ts';

/** Where the provider sends people back to. */
export const REDIRECT = 'https://estate.example/login';

/** Somebody who has an account at the provider. */
export type ProviderPerson = { email?: string; email_verified?: boolean; name?: string; groups?: string[] };

export interface TestProvider {
  issuer: string;
  /** The accounts, by subject. */
  people: Map<string, ProviderPerson>;
  /** Logs in at the provider as a browser does. @returns what it adds to the redirect address. */
  login(url: string, subject: string): Promise<{ code: string; state: string; iss?: string }>;
  /** Puts another server in the place of the provider, at the same address. */
  replace(answer: Parameters<typeof createServer>[1]): void;
  /** Signs with another key from now on. */
  rotate(): void;
  close(): Promise<void>;
}

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

const kept = new Map<string, ReturnType<typeof newKey>>();
/** The key of a name, made once: a tenth of a second, and tests start many providers. */
function keyNamed(name: string): ReturnType<typeof newKey> {
  if (!kept.has(name)) kept.set(name, newKey());
  return kept.get(name)!;
}

const asJwk = (key: KeyObject, kid: string) => ({
  ...key.export({ format: 'jwk' }),
  kid,
  alg: 'RS256',
  use: 'sig',
});

/** A provider that lies: whatever code it is shown, it answers with an ID token of these claims. */
export function lyingProvider(issuer: string, claims: object, signer?: KeyObject) {
  const { publicKey, privateKey } = keyNamed('liar');
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.floor(Date.now() / 1000);
  const body = { iss: issuer, sub: 'liar', aud: 'estate', iat: seconds, exp: seconds + 60, ...claims };
  const signed = `${part({ alg: 'RS256', kid: 'liar' })}.${part(body)}`;
  const signature = sign('sha256', Buffer.from(signed), signer ?? privateKey).toString('base64url');
  const answers: Record<string, object> = {
    '/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    },
    '/jwks': { keys: [asJwk(publicKey, 'liar')] },
    '/token': { access_token: 'a', token_type: 'Bearer', id_token: `${signed}.${signature}` },
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[request.url!] ?? {}));
  };
}

/** A real provider of OpenID Connect on loopback, with one client: `estate` with the secret `a-secret`. */
export async function startProvider(): Promise<TestProvider> {
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, ProviderPerson>();
  let keys = 0;

  const make = () => {
    keys += 1;
    const configuration: Configuration = {
      clients: [
        {
          client_id: 'estate',
          client_secret: 'a-secret',
          redirect_uris: [REDIRECT],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      jwks: { keys: [asJwk(keyNamed(`key-${keys}`).privateKey, `key-${keys}`)] },
      cookies: { keys: ['a key for cookies'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      scopes: ['openid', 'email', 'profile', 'groups'],
      findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) as never }),
      features: { devInteractions: { enabled: true } },
      ttl: { Session: 60, Grant: 60, Interaction: 60, AccessToken: 60, IdToken: 60 },
    };
    const provider = new Provider(issuer, configuration);
    provider.silent = true;
    return provider.callback();
  };
  const serve = (answer: Parameters<typeof createServer>[1]) => {
    server.removeAllListeners('request');
    server.on('request', answer!);
  };
  serve(make());

  return {
    issuer,
    people,
    async login(url, subject) {
      const cookies = new Map<string, string>();
      const go = async (address: string, form?: Record<string, string>): Promise<Response> => {
        const answer = await fetch(new URL(address, issuer), {
          redirect: 'manual',
          headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
          ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
        });
        for (const cookie of answer.headers.getSetCookie()) {
          const [name, value] = cookie.split(';')[0]!.split(/=(.*)/s) as [string, string];
          cookies.set(name, value);
        }
        return answer;
      };
      let at = url;
      for (let step = 0; step < 20; step += 1) {
        if (at.startsWith(REDIRECT)) return Object.fromEntries(new URL(at).searchParams) as never;
        const answer = await go(at);
        let next = answer.headers.get('location');
        if (next === null) {
          const prompt = /name="prompt" value="(\w+)"/.exec(await answer.text())?.[1];
          if (!prompt) throw new Error(`the provider answers ${answer.status} at ${at}`);
          const form = prompt === 'login' ? { prompt, login: subject, password: 'any' } : { prompt };
          next = (await go(at, form as Record<string, string>)).headers.get('location');
        }
        at = new URL(next!, issuer).href;
      }
      throw new Error('the provider does not end the login');
    },
    replace: serve,
    rotate() {
      serve(make());
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sets single sign-on through the provider up, or changes how. */
export async function useProvider(t: TestApp, provider: TestProvider, more: Record<string, unknown> = {}) {
  await changeSetting(await t.ctx(), t.services.secrets, 'sso', {
    enabled: true,
    provider: 'oidc',
    client_id: 'estate',
    client_secret: 'a-secret',
    issuer_url: provider.issuer,
    redirect_uris: [REDIRECT],
    group_roles: [],
    ...more,
  });
}
