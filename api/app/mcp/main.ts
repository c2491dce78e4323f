import { parseArgs } from 'node:util';
import { failStartup, StartupError } from '../../../platform/startup.ts';
import { relayOverStdio } from './mcp.stdio.ts';

const USAGE =
  'npm run -s mcp -- --url http://127.0.0.1:8080 --token est_…   (or ESTATE_URL and ESTATE_TOKEN, which process lists do not show)';

// npm run mcp: the tools of a running service for MCP clients that use the stdio transport
try {
  const { url, token } = readOptions();
  await relayOverStdio(new URL('/mcp', url), token);
} catch (error) {
  failStartup(error);
}

function readOptions(): { url: string; token: string } {
  const { values } = parseArgs({ options: { url: { type: 'string' }, token: { type: 'string' } } });
  const url = values.url ?? process.env.ESTATE_URL ?? 'http://127.0.0.1:8080';
  const token = values.token ?? process.env.ESTATE_TOKEN;
  if (token === undefined || token === '') throw new StartupError(`A token is required: ${USAGE}`);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new StartupError(`${url} is not a URL: ${USAGE}`);
  return { url, token };
}
