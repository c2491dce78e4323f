import { openApp } from '../../support/harness.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
await admin.patch('/api/v1/settings/mcp', { enabled: true });
const ping = { jsonrpc: '2.0', id: 1, method: 'ping', params: {} };

it.each([
  ['initialize', { protocolVersion: 7 }, 'params.protocolVersion: expected string, received number'],
  ['initialize', { capabilities: 'all' }, 'params.capabilities: expected object, received string'],
  ['initialize', undefined, 'params: expected object, received undefined'],
  ['tools/list', { cursor: 7 }, 'params.cursor: expected string, received number'],
  ['tools/call', undefined, 'params: expected object, received undefined'],
  ['tools/call', { name: 7 }, 'params.name: expected string, received number'],
  [
    'tools/call',
    { name: 'search_cards', arguments: 'x' },
    'params.arguments: expected record, received string',
  ],
  ['tools/call', { name: 'no_such_tool' }, 'Tool no_such_tool not found'],
])('names wrong parameters of %s %j', async (method, given, expected) => {
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const params = method === 'initialize' && given ? { ...client, ...given } : given;
  const sent = { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
  const error = { code: -32602, message: expected };
  expect(await viewer.post('/mcp', sent)).toMatchObject({ status: 200, body: { id: 1, error } });
  if (method === 'initialize') return;
  expect((await viewer.post('/mcp', [{ ...sent, id: 2 }, ping])).body).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error },
    ]),
  );
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': client.clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': 'no_such_tool' };
  const { body } = await viewer.post('/mcp', { ...sent, params: { ...params, _meta: envelope } }, headers);
  expect(body.error.code).not.toBe(-32603);
  expect(body.error.message).not.toContain('invalid_type');
});

it.each([
  [{ jsonrpc: '2.0', id: 1 }],
  [{ jsonrpc: '2.0', id: 1, method: 7 }],
  [{ jsonrpc: '2.0', id: {}, method: 'ping' }],
  [{ jsonrpc: '2.0', id: 1, method: 'ping', params: 'x' }],
  [[ping, { jsonrpc: '2.0', id: 2 }]],
])('refuses what is no message: %j', async (sent) => {
  const { status, body } = await viewer.post('/mcp', sent);
  expect([status, body.error.code]).toEqual([400, -32600]);
  expect(body.error.message).toMatch(/^Bad Request: .* message$/);
});

it('answers a body that is no JSON as JSON-RPC does', async () => {
  const headers = { authorization: `Bearer ${viewer.token}`, 'content-type': 'application/json' };
  const sent = await t.app.inject({ method: 'POST', url: '/mcp', headers, payload: '{"jsonrpc": "2.0",' });
  expect([sent.statusCode, sent.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
  const error = { code: -32700, message: expect.any(String) };
  expect(sent.json()).toEqual({ jsonrpc: '2.0', id: null, error });
});
