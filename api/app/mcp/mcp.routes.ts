import type { FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { throttle } from '../../../domain/access/access.throttle.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { SETTINGS_TOPIC } from '../../../domain/kernel/settings/settings.read.ts';
import { EstateError } from '../../../platform/errors.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { callApiAs } from './mcp.api.ts';
import { answerMessage } from './mcp.http.ts';
import { cardTools, metamodelTools } from './mcp.metamodel.tools.ts';
import { analysisTools, batchTools, operationTools } from './mcp.operation.tools.ts';
import { offeredReports, reportTools } from './mcp.report.tools.ts';
import { createMcpServer } from './mcp.server.ts';
import type { Tool } from './mcp.tool.ts';

const description = 'A message of JSON-RPC 2.0';
const members = { jsonrpc: Type.Literal('2.0') };
const open = { additionalProperties: true, description };
const JsonRpcMessage = Type.Object(members, { $id: 'JsonRpcMessage', ...open });

const messages = (message: TSchema) =>
  Type.Union([message, Type.Array(message, { minItems: 1, maxItems: 20, description: 'Several at once' })]);

/** The Model Context Protocol, over streamable HTTP. */
export function registerMcpRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Model Context Protocol' });

  let made: Tool[] | undefined;
  /** Created on the first call, when all operations are declared. */
  const tools = () => {
    made ??= [
      ...metamodelTools,
      ...cardTools,
      ...operationTools(app.operations),
      ...reportTools(offeredReports(app.operations.values())),
      ...analysisTools,
      ...batchTools,
    ];
    return made;
  };

  routes.post('sendMcpMessage', '/mcp', {
    summary: 'Send a message of the Model Context Protocol',
    description:
      'Streamable HTTP without sessions: any process can handle each message, with a JSON response. The tools call the operations with the rights of the token. The `Origin` of a request, if any, must be listed in the setting `cors-origins`.',
    permission: 'login',
    module: 'mcp',
    format: 'mcp',
    body: messages(Type.Object(members, open)),
    headers: ['Accept'],
    errors: ['bad_body', 'not_acceptable', 'origin_refused', 'too_many_requests'],
    responses: {
      ...ok('The answers', messages(JsonRpcMessage)),
      202: { description: 'Accepted: notifications have no response' },
    },
    handler: async ({ ctx, body, request, reply }) => {
      await requireOrigin(services, request);
      await throttle(ctx.db, 'mcp', [ctx.caller.userId!], Array.isArray(body) ? body.length : 1);
      return answerMessage(request, reply, () =>
        createMcpServer({
          tools: tools(),
          api: callApiAs(app, request),
          requestId: request.id,
          onError: (error) => request.log.error({ err: error }, 'an MCP tool failed'),
        }),
      );
    },
  });
}

/**
 * Refuses pages of unknown origins, which also prevents DNS rebinding.
 * @throws EstateError `origin_refused`.
 */
async function requireOrigin(services: Services, request: FastifyRequest): Promise<void> {
  const { origin } = request.headers;
  if (origin === undefined) return;
  const { values } = await services.settings.at(request.topics.get(SETTINGS_TOPIC) ?? 0, services.db);
  if (values.cors_origins.includes(origin)) return;
  throw new EstateError(
    'origin_refused',
    'The origin of this page is not listed in the setting cors-origins.',
  );
}
