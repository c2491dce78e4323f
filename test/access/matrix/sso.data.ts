import { randomUUID } from 'node:crypto';
import { bearer } from '../../support/accounts.ts';
import { REDIRECT, startProvider, type TestProvider, useProvider } from '../../support/oidc.ts';
import { anyAddress, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const url = '/api/v1/auth/sso';

/** Acts while people log in through a provider. */
async function withProvider<T>(w: World, act: (provider: TestProvider) => Promise<T>): Promise<T> {
  const provider = await startProvider();
  try {
    await useProvider(w.t, provider);
    return await act(provider);
  } finally {
    await useProvider(w.t, provider, { enabled: false });
    await provider.close();
  }
}

const post = (w: World, path: string, body: object, token: string) =>
  w.t.anonymous.request({
    method: 'POST',
    url: `${url}/${path}`,
    headers: { 'content-type': 'application/json', ...(token ? bearer(token) : {}) },
    payload: JSON.stringify({ ...body, redirect_uri: REDIRECT }),
    remoteAddress: anyAddress(),
  });

/** Single sign-on. */
export const ssoRows: Row[] = [
  // operation                             A B M V I P 0
  row(`GET ${url}/config`, '+ + + + + + +'),
  row(`POST ${url}/start`, '+ + + + + + +', () => ({
    send: (w, token) => withProvider(w, async () => (await post(w, 'start', {}, token)).status),
  })),
  row(`POST ${url}/callback`, '+ + + + + + +', () => ({
    send: (w, token) =>
      withProvider(w, async (provider) => {
        const subject = randomUUID();
        provider.people.set(subject, { email: `${subject}@estate.example`, email_verified: true });
        const { body } = await post(w, 'start', {}, token);
        const answer = await provider.login(body.authorization_url, subject);
        return (await post(w, 'callback', answer, token)).status;
      }),
  })),
];
