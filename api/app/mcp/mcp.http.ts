import {
  createMcpHandler,
  INVALID_PARAMS,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedMedia } from '../../accept.ts';
import { clientGone } from '../../gone.ts';

/** Headers that the MCP library reads. */
const read = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/**
 * Handles one message of any revision of the protocol, with a JSON response. There are no sessions: each message can be
 * handled by another process.
 */
export async function answerMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  factory: McpServerFactory,
): Promise<FastifyReply> {
  acceptedMedia(request.headers.accept, ['application/json']);
  // the protocol requires clients to accept streams; we send none, and also serve clients that do not accept them
  const headers = new Headers({ accept: 'application/json, text/event-stream' });
  for (const name of read) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const message = new Request(`http://${request.host || 'localhost'}/mcp`, {
    method: 'POST',
    headers,
    signal: clientGone(reply),
  });
  const answer = (await isLegacyRequest(message, request.body))
    ? await handleEarlierRevision(message, request.body, factory)
    : await handleCurrentRevision(message, request, factory);
  const type = answer.headers.get('content-type');
  const text = withReadableErrors(await answer.text());
  reply.code(answer.status).header('cache-control', 'no-store');
  if (type !== null) reply.header('content-type', type);
  return reply.serializer(String).send(text === '' ? undefined : text);
}

/** Revision 2026-07-28. */
async function handleCurrentRevision(
  message: Request,
  request: FastifyRequest,
  factory: McpServerFactory,
): Promise<Response> {
  const handler = createMcpHandler(factory, {
    legacy: 'reject',
    // there are no notifications, and an endless stream would delay the shutdown
    maxSubscriptions: 0,
    onerror: (error) => request.log.debug({ err: error }, 'an MCP message was refused'),
  });
  return await handler.fetch(message, { parsedBody: request.body });
}

/** Earlier revisions, which begin with `initialize`. */
async function handleEarlierRevision(
  message: Request,
  body: unknown,
  factory: McpServerFactory,
): Promise<Response> {
  const server = await factory({ era: 'legacy', requestInfo: message });
  // without a generator of session ids the transport is stateless
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(message, { parsedBody: body });
  } finally {
    await server.close();
  }
}

/**
 * Rewrites validation errors of messages as `invalid params` errors with readable texts: the library returns some of them
 * as internal errors, and the JSON of its validator as the message.
 */
function withReadableErrors(text: string): string {
  // skip parsing: most responses have no error, and are long
  if (!/"error":\{"code":-3260[23],/.test(text)) return text;
  const named = (reply: { error?: { code: number; message: string } }) => {
    const message = reply.error && issuesIn(reply.error.message);
    return message === undefined ? reply : { ...reply, error: { code: INVALID_PARAMS, message } };
  };
  const body = JSON.parse(text);
  return JSON.stringify(Array.isArray(body) ? body.map(named) : named(body));
}

function issuesIn(message: string): string | undefined {
  const [, list] = /^(?:Invalid \S+ request: )?(\[\s*\{.*\])$/s.exec(message) ?? [];
  if (list === undefined) return undefined;
  const issues: { path: (string | number)[]; message: string }[] = JSON.parse(list);
  return issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.')}: ${issue.message.replace('Invalid input: ', '')}`)
    .join('; ');
}
