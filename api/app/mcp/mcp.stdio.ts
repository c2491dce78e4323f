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
import { appVersion } from '../../../domain/kernel/version.ts';
import { StartupError } from '../../../platform/startup.ts';

/**
 * Relays MCP messages between this process's standard streams and a running service until the input ends, so that the
 * service's setting, rights, limits and logs apply.
 * @throws StartupError if the service cannot be reached or refuses the token.
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
    throw new StartupError(`${address} refuses the token or does not respond: ${reasonOf(error)}`);
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
        // protocol errors are relayed unchanged
        if (error instanceof ProtocolError) throw error;
        return unanswered(address, error);
      }
    });
    return server;
  });
}

/** The result of a tool if the service does not respond, or refuses the message. */
function unanswered(address: URL, error: unknown): CallToolResult {
  const problem = refusalOf(error) ?? {
    status: 503,
    code: 'unavailable',
    detail: `${address.origin} does not respond (${reasonOf(error)}): try again shortly.`,
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(problem) }] };
}

/** The problem document of a refused message, such as one that is too long. */
function refusalOf(error: unknown): object | undefined {
  const status =
    error instanceof SdkHttpError ? error.status : error instanceof UnauthorizedError ? 401 : undefined;
  if (status === undefined || status >= 500) return undefined;
  if (status === 401)
    return { status, code: 'unauthorized', detail: 'The token is no longer valid: a new one is required.' };
  const text = error instanceof SdkHttpError ? error.data.text : undefined;
  try {
    const said: unknown = JSON.parse(String(text));
    if (typeof said === 'object' && said !== null && 'code' in said) return said;
  } catch {
    // not a problem document
  }
  return { status, code: 'refused', detail: reasonOf(error) };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
