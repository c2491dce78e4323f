import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The library's own client of `/mcp`, in the revision of the protocol that it chooses. */
export async function connectMcp(
  url: string,
  { token }: { token: string },
  mode: 'auto' | 'legacy' = 'auto',
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

interface Called {
  isError?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  structuredContent?: any;
  content: { type: string; text?: string }[];
  _meta?: Record<string, unknown>;
}

export const callTool = async (
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Called> => (await client.callTool({ name, arguments: args })) as Called;

/** The answer of a tool; an error fails the test. */
export async function answer(client: Client, name: string, args: Record<string, unknown> = {}) {
  const called = await callTool(client, name, args);
  expect(called.isError ?? false, called.content[0]?.text).toBe(false);
  return called.structuredContent;
}

/** The problem document of a tool's error. */
export async function refusal(client: Client, name: string, args: Record<string, unknown> = {}) {
  const called = await callTool(client, name, args);
  expect(called.isError).toBe(true);
  return JSON.parse(called.content[0]!.text!);
}
