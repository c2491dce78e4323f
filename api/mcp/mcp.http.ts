import {
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedMedia } from '../accept.ts';
import { clientGone } from '../gone.ts';

/** Headers that the protocol itself reads. */
const read = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/**
 * Answers one message of the protocol, in any of its revisions, as JSON. No session is kept: every message may reach another
 * process.
 */
export async function answerMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  factory: McpServerFactory,
): Promise<FastifyReply> {
  acceptedMedia(request.headers.accept, ['application/json']);
  // the protocol wants clients to take streams too, though there are none here: those that do not say so are served as well
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
    ? await answerEarlier(message, request.body, factory)
    : await answerPresent(message, request, factory);
  const type = answer.headers.get('content-type');
  const text = await answer.text();
  reply.code(answer.status).header('cache-control', 'no-store');
  if (type !== null) reply.header('content-type', type);
  return reply.serializer(String).send(text === '' ? undefined : text);
}

/** Revision 2026-07-28. */
async function answerPresent(
  message: Request,
  request: FastifyRequest,
  factory: McpServerFactory,
): Promise<Response> {
  const handler = createMcpHandler(factory, {
    legacy: 'reject',
    // there are no notifications, and an endless stream would delay the shutdown
    maxSubscriptions: 0,
    onerror: (error) => request.log.debug({ err: error }, 'a message of MCP was refused'),
  });
  return await handler.fetch(message, { parsedBody: request.body });
}

/** The revisions before, which begin with `initialize`. */
async function answerEarlier(message: Request, body: unknown, factory: McpServerFactory): Promise<Response> {
  const server = await factory({ era: 'legacy', requestInfo: message });
  // without a generator of session ids no session is kept
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(message, { parsedBody: body });
  } finally {
    await server.close();
  }
}
