import { call, startSso } from '#client';

/** The page that the identity provider sends the browser back to. */
const redirectUri = () => `${window.location.origin}/sso/callback`;

const STORED = 'estate-sso';

interface Started {
  state: string;
  next?: string;
}

/** Sends the browser to the identity provider. */
export async function startLogin(next?: string): Promise<void> {
  const { authorization_url, state } = await call(startSso({ body: { redirect_uri: redirectUri() } }));
  sessionStorage.setItem(STORED, JSON.stringify({ state, next } satisfies Started));
  window.location.assign(authorization_url);
}

/** What this tab has started, once; undefined for a return that it did not ask for. */
export function startedLogin(state: string): (Started & { redirectUri: string }) | undefined {
  const stored = sessionStorage.getItem(STORED);
  sessionStorage.removeItem(STORED);
  const started = stored ? (JSON.parse(stored) as Started) : undefined;
  return started && started.state === state ? { ...started, redirectUri: redirectUri() } : undefined;
}
