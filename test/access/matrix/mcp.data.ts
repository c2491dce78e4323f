import { type Row, row } from '../matrix.row.ts';

/** Whoever is logged in may speak with the server; what its tools do is decided by the operations that they call. */
export const mcpRows: Row[] = [
  row('POST /mcp', '+ + + + + + 0', async (w) => {
    await (await w.client('admin')).patch('/api/v1/settings/mcp', { enabled: true });
    return { body: { jsonrpc: '2.0', id: 1, method: 'ping' } };
  }),
];
