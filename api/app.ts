import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import createFastify, { LogController } from 'fastify';
import type { Services } from '../domain/kernel/services.ts';
import { registerOpenApi } from './openapi/plugin.ts';
import { registerAccess } from './plugins/access.ts';
import { registerBatches } from './plugins/batches.ts';
import { bodyLimits, limitBodyMemory, registerBodies, registerBodyDeadlines } from './plugins/bodies.ts';
import { createSchemaBucket, lazySerializers } from './plugins/compilers.ts';
import { registerCompression } from './plugins/compression.ts';
import { registerConditional } from './plugins/conditional.ts';
import { registerCors } from './plugins/cors.ts';
import { registerDeprecations } from './plugins/deprecations.ts';
import { registerIdempotency } from './plugins/idempotency.ts';
import { registerProblems, sendBadAddress } from './plugins/problems.ts';
import { answerProtocol, boundConnections, boundPublicRequests, protocolErrors } from './plugins/protocol.ts';
import { registerRequestLines, requestLog } from './plugins/request-log.ts';
import { registerValidation } from './plugins/validation.ts';
import { routeGroups } from './routes.ts';
import { Problem } from './schemas.ts';
import type { App } from './types.ts';
import { registerWeb, registerWebFiles } from './web/web.routes.ts';

/** Timeout of request headers, in milliseconds. */
const HEADERS_MS = 10_000;

/** Creates the application, for production and for tests. */
export async function createApp(services: Services): Promise<App> {
  const app = createFastify({
    loggerInstance: services.log as never,
    childLoggerFactory: requestLog,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyLimits.jsonBytes,
    // requests in progress are completed before shutdown, see serve.ts
    forceCloseConnections: 'idle',
    trustProxy: services.config.trustProxy.length > 0 ? services.config.trustProxy : false,
    // bodies have separate deadlines: an upload can take any time while it makes progress
    requestTimeout: 0,
    http: {
      headersTimeout: HEADERS_MS,
      connectionsCheckingInterval: HEADERS_MS / 5,
      // refused with a problem document instead
      requireHostHeader: false,
    },
    clientErrorHandler: protocolErrors(services.log),
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500 },
    frameworkErrors: sendBadAddress,
    schemaController: {
      // its type requires `add` to return the application, which nobody uses
      bucket: createSchemaBucket as never,
      compilersFactory: { buildSerializer: lazySerializers },
    },
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && /^[\w.-]{8,100}$/.test(given) ? given : randomUUID();
    },
  }) as unknown as App;

  // synchronous hooks use callbacks: one promise per hook would take a tenth of the time of a small response
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    done();
  });
  boundConnections(app.server as Server, services.config.trustProxy);
  answerProtocol(app);
  boundPublicRequests(app);
  registerBodies(app);
  registerBodyDeadlines(app);
  await registerCors(app, services);
  await registerWeb(app);
  registerProblems(app);
  registerValidation(app);
  await registerAccess(app, services);
  limitBodyMemory(app);
  app.addHook('onSend', (request, reply, payload, done) => {
    // a stream sets the position of its rows, which can be before that of the event that records the stream
    if (request.ctx?.position !== undefined && !reply.hasHeader('x-position')) {
      reply.header('x-position', String(request.ctx.position));
    }
    done(null, payload);
  });
  registerDeprecations(app);
  registerBatches(app);
  registerConditional(app);
  registerIdempotency(app, services);
  registerRequestLines(app, services.log);
  await registerCompression(app);

  app.addSchema(Problem);
  await registerOpenApi(app);
  for (const group of routeGroups) await group(app, services);
  registerWebFiles(app);
  return app;
}
