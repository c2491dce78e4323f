import fastifyCors from '@fastify/cors';
import type { Services } from '../../domain/kernel/services.ts';
import { SETTINGS_TOPIC } from '../../domain/kernel/settings/settings.read.ts';
import type { App } from '../types.ts';

/** Response headers that a page of another origin can read, besides the safelisted ones. */
const exposed = [
  'Content-Disposition',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Repr-Digest',
  'Retry-After',
  'Sunset',
  'X-Mutation-Batch',
  'X-Position',
  'X-Request-Id',
];

/**
 * Allows pages of the origins in the settings to call the API; none by default. Credentials are not allowed,
 * so that such a page needs a token: the cookie of the web interface is only for pages of the service itself. Must be registered before plugins with `onRoute` hooks: preflights are handled by a route of its own.
 */
export async function registerCors(app: App, services: Services): Promise<void> {
  const isAllowed = async (origin: string): Promise<boolean> => {
    const { topics } = await services.sessions.read(null);
    const { values } = await services.settings.at(topics.get(SETTINGS_TOPIC) ?? 0, services.db);
    return values.cors_origins.includes(origin);
  };
  await app.register(fastifyCors, {
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: exposed,
    maxAge: 600,
    origin: (origin, done) => {
      if (origin === undefined) done(null, false);
      else isAllowed(origin).then((allowed) => done(null, allowed), done as (error: Error) => void);
    },
  });
}
