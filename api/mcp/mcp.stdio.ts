import {
  type CallToolResult,
  Client,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { appVersion } from '../../domain/version.ts';
import { StartupError } from '../../platform/startup.ts';

/**
 * Serves the tools of a running service over this process's standard streams until the input ends. Everything is asked of the
 * service itself, so that its switch, rights, limits and log hold here too.
 * @throws StartupError when the service cannot be reached or refuses the token.
 */
export async function relayOverStdio(address: URL, token: string): Promise<void> {
  const client = new Client(
    { name: 'estate-stdio', version: appVersion },
    { versionNegotiation: { mode: 'auto' } },
  );
  const transport = new StreamableHTTPClientTransport(address, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  try {
    await client.connect(transport);
  } catch (error) {
    throw new StartupError(`${address} does not take the token or does not answer: ${reasonOf(error)}`);
  }
  const instructions = client.getInstructions();
  serveStdio(() => {
    const server = new Server(
      { name: 'estate', title: 'Estate', version: appVersion },
      { capabilities: { tools: {} }, ...(instructions === undefined ? {} : { instructions }) },
    );
    server.setRequestHandler('tools/list', () => client.listTools());
    server.setRequestHandler('tools/call', async ({ params }) => {
      try {
        return await client.callTool({ name: params.name, arguments: params.arguments ?? {} });
      } catch (error) {
        // what the service says of a message stands as it is
        if (error instanceof ProtocolError) throw error;
        return unanswered(address, error);
      }
    });
    return server;
  });
}

/** What a tool answers while the service is away, takes the token no more or asks for patience: an agent can tell which. */
function unanswered(address: URL, error: unknown): CallToolResult {
  const status =
    error instanceof SdkHttpError ? error.status : error instanceof UnauthorizedError ? 401 : 503;
  const [code, detail] =
    status === 401
      ? ['unauthorized', 'The service takes the token no more.']
      : status === 429
        ? ['too_many_requests', 'The service asks to be asked less often: wait a minute.']
        : ['unavailable', `${address.origin} does not answer (${reasonOf(error)}): try again shortly.`];
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ status, code, detail }) }] };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
