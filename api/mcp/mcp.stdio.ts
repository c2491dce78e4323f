import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
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
    server.setRequestHandler('tools/call', ({ params }) =>
      client.callTool({ name: params.name, arguments: params.arguments ?? {} }),
    );
    return server;
  });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
