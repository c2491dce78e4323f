import fastify from 'fastify';
import { answerMessages } from '../harness/programs.ts';

/** The baseline of responses that need no work: one static route of the same framework, without any hook. */
const app = fastify();
app.get('/static', async () => ({ status: 'ok' }));
answerMessages(() => app.listen({ host: '127.0.0.1', port: 0 }));
