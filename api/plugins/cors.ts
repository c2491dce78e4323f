import fastifyCors from '@fastify/cors';
import type { Services } from '../../domain/kernel/services.ts';
import { SETTINGS_TOPIC } from '../../domain/kernel/settings/settings.state.ts';
import type { App } from '../types.ts';

/** Headers of answers that a page of another origin may read, besides the few that it always may. */
const exposed = [
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'Repr-Digest',
  'Retry-After',
  'X-Position',
  'X-Request-Id',
];

/**
 * Lets pages of the origins that the settings name call the API; none by default. No cookies are taken, so what such a
 * page may do is what the token allows that it shows. To be registered before anything that watches routes: the answer
 * to preflights is a route of every path.
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
