import { client } from './generated/client.gen.ts';

/** One invalid member of a request. */
export interface FieldError {
  /** Its path, such as `attributes.costTotalAnnual`. */
  field: string;
  code: string;
  message: string;
  /** The refused value, if it had to be one of a list. */
  value?: string;
  allowed?: string[];
  nearest?: string;
}

/** A response that reports an error, as a problem document (RFC 9457). */
export class ApiError extends Error {
  readonly status: number;
  /** The machine-readable reason, such as `validation_failed`; `network` or `timeout` without a response. */
  readonly code: string;
  readonly requestId: string | undefined;
  readonly errors: readonly FieldError[];
  /** All members of the problem document. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Record<string, unknown>) {
    super(String(problem.detail ?? problem.title ?? 'The request failed.'));
    this.status = status;
    this.code = String(problem.code ?? 'network');
    this.requestId = problem.request_id as string | undefined;
    this.errors = (problem.errors as FieldError[] | undefined) ?? [];
    this.problem = problem;
  }
}

/** How the client reaches the service. */
export interface ClientOptions {
  /** The URL of the service, such as `https://estate.example`; by default the origin of the page. */
  url?: string;
  /** An API token or access token; absent for a page of the service itself, which has a session cookie. */
  token?: string;
  headers?: Record<string, string>;
  fetch?: typeof fetch;
}

/** Sets how all operations reach the service. */
export function configure({ url = '', token, headers, fetch: send }: ClientOptions): void {
  client.setConfig({
    baseUrl: url,
    ...(token && { auth: ({ scheme }: { scheme?: string }) => (scheme === 'bearer' ? token : undefined) }),
    ...(send && { fetch: send }),
    headers: { accept: 'application/json', ...headers },
  });
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response?: Response;
}

/** The body of a response. @throws ApiError for a problem, and with the code `network` or `timeout` without a response. */
export async function call<T>(request: Promise<Answer<T>>): Promise<T> {
  return (await answer(request)).data;
}

/** The body and the headers of a response. @throws ApiError as {@link call}. */
export async function answer<T>(request: Promise<Answer<T>>): Promise<{ data: T; headers: Headers }> {
  const { data, error, response } = await request;
  if (!response) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    throw new ApiError(0, {
      code: isLate ? 'timeout' : 'network',
      detail: 'The service does not respond.',
    });
  }
  if (!response.ok) throw new ApiError(response.status, Object(error));
  return { data: data as T, headers: response.headers };
}
