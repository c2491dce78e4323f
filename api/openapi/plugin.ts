import fastifySwagger from '@fastify/swagger';
import { appVersion } from '../../domain/version.ts';
import type { App } from '../types.ts';
import { tags } from './tags.ts';

/** Collects every declared operation into one OpenAPI 3.1 document, `app.swagger()`. */
export async function registerOpenApi(app: App): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Estate',
        version: appVersion,
        summary:
          'Enterprise-architecture repository: inventory, relations, reports, extraction, jobs and events',
        description:
          'Every list is paged, every error is a problem document (RFC 9457), every write answers its place in the change feed as `X-Position`. `x-permission` names what each operation demands.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        contact: { name: 'Estate', url: 'https://estate.example' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
    transform: ({ schema, url, route }) => {
      const config = route.config ?? {};
      const permission = [config.permission ?? 'public'].flat().join(' | ');
      return {
        url,
        schema: {
          ...(schema as object),
          security: permission === 'public' ? [] : [{ bearer: [] }],
          'x-permission': config.permissionNote ? `${permission} / ${config.permissionNote}` : permission,
        } as never,
      };
    },
  });
}
