import fastifySwagger from '@fastify/swagger';
import { appVersion } from '../../domain/kernel/version.ts';
import { errorCodesOf, type OperationSpec } from '../operation.ts';
import type { App } from '../types.ts';
import type { OpenApiDocument } from './document.ts';
import { commonCodes, otherResponse, problemExamples } from './errors.ts';
import { headerComponents } from './headers.ts';
import { describeOperation, loginSecurity } from './operations.ts';
import { plainSchemas } from './plain-schemas.ts';
import { shareExamples } from './shared.examples.ts';
import { shareParameters } from './shared.parameters.ts';
import { shareResponses } from './shared.responses.ts';
import { shareSchemas } from './shared.schemas.ts';
import tags from './tags.json' with { type: 'json' };

declare module 'fastify' {
  interface FastifyInstance {
    /** Every declared operation by its id. */
    operations: Map<string, OperationSpec>;
  }
}

/** Collects every declared operation into one OpenAPI 3.1 document, `app.swagger()`. */
export async function registerOpenApi(app: App): Promise<void> {
  const operations = new Map<string, OperationSpec>();
  app.decorate('operations', operations);
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Estate',
        version: appVersion,
        summary:
          'Enterprise-architecture repository: inventory, relations, reports, extraction, jobs and events',
        description:
          'Every list is paged, every error is a problem document (RFC 9457) whose `code` is one of those in `x-error-codes`, every write returns its position in the change feed as `X-Position`. `x-permission` names what each operation requires: permissions, and after `scope` what the scopes of an API token must also include. The scopes of a token limit everything that it does: a role on a card, or the ownership of an object, only counts within the scope of the application permission that the operation names.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        contact: { name: 'Estate', url: 'https://estate.example' },
      },
      servers: [{ url: '/', description: 'This service' }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'The access token of a login, or a personal or service token.',
          },
          basic: {
            type: 'http',
            scheme: 'basic',
            description: 'A personal or service token as the password, with any user name.',
          },
          cookie: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-estate',
            description:
              'The session of the web interface. It is accepted together with the header `X-Estate-Client: web` and `Sec-Fetch-Site: same-origin`, or the `Origin` of the service if the browser does not send the former, and without an Authorization header.',
          },
          ticket: {
            type: 'apiKey',
            in: 'query',
            name: 'ticket',
            description: 'A single-use ticket, for clients that cannot send a header.',
          },
        },
      },
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
    // the framework then omits the scheme's parameter from the operation
    transform: ({ schema, url, route }) => ({
      url,
      schema: (route.config?.ticket
        ? { ...schema, security: [{ ticket: [] }] }
        : { ...schema }) as typeof schema,
    }),
    transformObject: (collected) =>
      complete(
        (collected as { openapiObject: unknown }).openapiObject as OpenApiDocument,
        operations,
      ) as never,
  });
}

/** Completes the framework's document: operations, components and their order. */
function complete(
  { openapi, info, servers, paths, components }: OpenApiDocument,
  operations: ReadonlyMap<string, OperationSpec>,
): OpenApiDocument {
  const { schemas } = components;
  const described = mapValues(paths, (methods, path) =>
    mapValues(methods, (operation) => {
      const spec = operations.get(operation.operationId);
      if (!spec) throw new Error(`${path} is described but was not declared by routesOf()`);
      return describeOperation(path, operation, spec, schemas);
    }),
  );
  const tagsUsed = new Set([...operations.values()].map(({ tag }) => tag));
  const document = {
    openapi,
    info,
    servers,
    security: loginSecurity,
    tags: tags.filter(({ name }) => tagsUsed.has(name)),
    paths: described,
    components: {
      securitySchemes: components.securitySchemes!,
      ...usedComponents(described, {
        ...headerComponents(),
        responses: { Other: otherResponse() },
        examples: problemExamples([...[...operations.values()].flatMap(errorCodesOf), ...commonCodes]),
        schemas,
      }),
    },
  };
  plainSchemas(document);
  shareSchemas(document);
  shareExamples(document);
  shareParameters(document);
  shareResponses(document);
  document.components = mapValues(document.components, sorted) as typeof document.components;
  return document;
}

/** The components that the paths refer to, directly or indirectly. */
function usedComponents(paths: object, components: OpenApiDocument['components']): typeof components {
  const used = new Set<string>();
  const follow = (part: unknown) => {
    for (const [, kind, name] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([\w.-]+)"/g)) {
      if (used.has(`${kind}/${name}`)) continue;
      used.add(`${kind}/${name}`);
      follow(components[kind!]?.[name!] ?? null);
    }
  };
  follow(paths);
  return mapValues(components, (kind, kindName) =>
    sorted(Object.fromEntries(Object.entries(kind).filter(([name]) => used.has(`${kindName}/${name}`)))),
  ) as typeof components;
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

function mapValues<T, R>(record: Record<string, T>, to: (value: T, key: string) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
}
