import Type from 'typebox';
import { createBootstrap } from '../../domain/app/settings/bootstrap.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { BootstrapSchema } from '../schemas/settings.ts';
import type { App } from '../types.ts';

/** All that an application asks for first, in one answer. */
export function registerBootstrapRoute(app: App, services: Services): void {
  app.addSchema(BootstrapSchema);
  const bootstrap = createBootstrap(services.settings);

  operation(app, {
    method: 'GET',
    url: '/api/v1/settings/bootstrap',
    id: 'readBootstrap',
    tag: 'Settings',
    summary: 'Read what an application needs to start',
    permission: 'public',
    answers: { 200: { description: 'Settings, switches and catalogues', schema: Type.Ref('Bootstrap#') } },
    handler: async ({ ctx, request, reply }) =>
      sendJson(reply.header('cache-control', 'public, no-cache'), await bootstrap.read(ctx, request.topics)),
  });
}
