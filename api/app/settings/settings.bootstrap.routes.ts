import { createBootstrap } from '../../../domain/app/settings/bootstrap.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { sendJson } from '../../json.ts';
import { ok, routesOf } from '../../operation.ts';
import { BootstrapSchema } from '../../schemas/settings.ts';
import type { App } from '../../types.ts';

/** Everything that an application reads at start, in one response. */
export function registerBootstrapRoute(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Settings' });

  const bootstrap = createBootstrap(services.settings);

  routes.get('/api/v1/settings/bootstrap', {
    id: 'readBootstrap',
    summary: 'Read what an application needs to start',
    permission: 'public',
    answers: ok('Settings, switches and catalogues', BootstrapSchema),
    handler: async ({ ctx, request, reply }) =>
      sendJson(reply.header('cache-control', 'public, no-cache'), await bootstrap.read(ctx, request.topics)),
  });
}
