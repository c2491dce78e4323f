/** Headers of every request of the pages. Labels come as they are stored, and pages translate them. */
export const headers = { 'X-Estate-Client': 'web', 'X-Request-Origin': 'web', 'Accept-Language': 'en' };

const accept = 'application/json';

/** After this time in milliseconds a read counts as not answered. */
const READ_MS = 60_000;

/** What the first view of every page needs. */
const needed = [
  '/api/v1/auth/me',
  '/api/v1/settings/bootstrap',
  '/api/v1/metamodel/types?page=1&page_size=200',
  '/api/v1/metamodel/relation-types?page=1&page_size=200',
];
/** What the start page needs besides. */
const home = ['/api/v1/reports/dashboard', '/api/v1/home?page_size=8'];

/** An answer that nobody asked for by then in milliseconds is too old. */
const KEPT_MS = 10_000;

const answers = new Map<string, Promise<Response>>();

/** Whether the browser has a session; without one, a request would only log an error. */
export const hasSession = () =>
  document.querySelector<HTMLMetaElement>('meta[name="session"]')?.content !== 'none';

/**
 * Asks for all that the first view of an address needs at once, before the code of the pages is compiled.
 * {@link fetchFirst} hands out the answers.
 */
export function askFirst(path: string): void {
  if (!hasSession()) return;
  for (const url of path === '/' ? [...needed, ...home] : needed) {
    const answer = fetch(url, {
      headers: { accept, ...headers },
      signal: AbortSignal.timeout(READ_MS),
    });
    answers.set(url, answer);
    // after a refusal, such as that of an ended session, everything is asked again
    answer.then(
      ({ ok }) => ok || answers.clear(),
      () => answers.clear(),
    );
  }
  setTimeout(() => answers.clear(), KEPT_MS);
}

/** Sends a request, unless it was already sent by {@link askFirst}. A read ends after {@link READ_MS}. */
export const fetchFirst: typeof fetch = (input) => {
  const request = input as Request;
  const isRead = request.method === 'GET' && request.headers.get('accept') !== 'text/event-stream';
  if (!isRead) return fetch(request);
  const path = request.url.slice(window.location.origin.length);
  const asked = answers.get(path);
  answers.delete(path);
  return asked ?? fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(READ_MS)]) });
};
