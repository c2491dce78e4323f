import { PARSE_ERROR } from '@modelcontextprotocol/server';
import type { EstateError } from '../../../platform/errors.ts';
import type { ErrorFormat } from '../../types.ts';

const parseError = ({ message }: EstateError) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: PARSE_ERROR, message },
});

/** A body that is no JSON, as JSON-RPC 2.0 (5.1) has it. Other errors are problem documents, or errors of the messages. */
export const mcpErrors: ErrorFormat = {
  applies: ({ routeOptions }, { code }) => routeOptions.config.format === 'mcp' && code === 'bad_body',
  body: parseError,
  send: (_request, reply, error) =>
    reply
      .code(error.status)
      .header('content-type', 'application/json; charset=utf-8')
      .serializer((body: unknown) => JSON.stringify(body))
      .send(parseError(error)),
};
