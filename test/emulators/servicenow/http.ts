/** A request as the parts of an instance see it. */
export interface Request {
  method: string;
  path: string;
  query: URLSearchParams;
  body: string;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; text is sent as it is. */
  body?: unknown;
}

/** The form of every refusal of the REST APIs. */
export const failure = (status: number, message: string, detail: string | null): Answer => ({
  status,
  body: { error: { message, detail }, status: 'failure' },
});
