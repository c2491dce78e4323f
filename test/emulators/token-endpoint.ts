import { type Reaction, serveResponses } from './http.ts';

export interface TokenEndpoint {
  url: string;
  /** The forms of the requests, in order. */
  requests: Record<string, string>[];
  /** Whether a mail server would accept a token: the last one that was given. */
  accepts(token: string): boolean;
  /** Another reaction to all requests, such as a fault; undefined: a token for the right client. */
  fault: Reaction | undefined;
  close(): Promise<void>;
}

/** The token endpoint of an authorization server: the client credentials grant with its errors (RFC 6749, 4.4 and 5.2). */
export async function startTokenEndpoint(client: { id: string; secret: string }): Promise<TokenEndpoint> {
  const requests: Record<string, string>[] = [];
  const refusal = (status: number, error: string): Reaction => ({ status, body: { error } });
  const react = (method: string, body: string): Reaction => {
    const form = Object.fromEntries(new URLSearchParams(body));
    requests.push(form);
    if (endpoint.fault !== undefined) return endpoint.fault;
    if (method !== 'POST') return { status: 405 };
    if (form.client_id !== client.id || form.client_secret !== client.secret)
      return refusal(401, 'invalid_client');
    if (form.grant_type !== 'client_credentials') return refusal(400, 'unsupported_grant_type');
    return {
      status: 200,
      body: { token_type: 'Bearer', expires_in: 3_599, access_token: `token ${requests.length}` },
    };
  };
  const { origin, close } = await serveResponses(({ method, body }) => react(method, body));
  const endpoint: TokenEndpoint = {
    url: `${origin}/oauth2/v2.0/token`,
    requests,
    accepts: (token) => token === `token ${requests.length}`,
    fault: undefined,
    close,
  };
  return endpoint;
}
