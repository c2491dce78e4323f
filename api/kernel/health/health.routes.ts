import Type from 'typebox';
import { createReadiness } from '../../../domain/kernel/health.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Choice, object } from '../../../domain/kernel/shapes.ts';
import { appVersion } from '../../../domain/kernel/version.ts';
import { ok, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

/** Version, liveness and readiness. */
export function registerHealthRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Health' });

  routes.get('readHealth', '/api/health', {
    summary: 'Read the version',
    permission: 'public',
    alone: true,
    responses: ok('The service runs', object({ status: Type.Literal('ok'), version: Type.String() })),
    handler: async () => ({ status: 'ok', version: appVersion }),
  });

  routes.get('readLiveness', '/api/health/live', {
    summary: 'Liveness: restart the process if it does not respond',
    permission: 'public',
    alone: true,
    responses: ok('It lives', object({ status: Type.Literal('ok') })),
    handler: async () => ({ status: 'ok' }),
  });

  const readiness = createReadiness(services);
  const Ready = object({
    status: Choice(['ready', 'not_ready']),
    checks: Type.Record(Type.String(), Type.String()),
  });
  routes.get('readReadiness', '/api/health/ready', {
    summary: 'Readiness: whether requests can be served',
    permission: 'public',
    alone: true,
    responses: {
      ...ok('Ready', Ready),
      503: { description: 'Not ready; each failed check has a reason', schema: Ready },
    },
    handler: async ({ reply }) => {
      const { ready, checks } = await readiness();
      return reply
        .code(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ status: ready ? 'ready' : 'not_ready', checks });
    },
  });
}
