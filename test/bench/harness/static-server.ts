import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

/** The floor of answers that need no work: one static route of the same framework, without any hook. */
const app = fastify();
app.get('/static', async () => ({ status: 'ok' }));
await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`listening on ${(app.server.address() as AddressInfo).port}`);
process.once('SIGTERM', () => void app.close());
