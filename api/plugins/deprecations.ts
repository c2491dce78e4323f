import type { FastifyRequest } from 'fastify';
import { deprecatedParts } from '../../domain/inventory/metamodel/usage/requests.ts';
import type { DeprecatedPart } from '../../domain/kernel/metamodel/deprecations.ts';
import type { App } from '../types.ts';

const MAX_LINKS = 5;

/** Responses to requests that name deprecated parts of the metamodel say so (RFC 9745, RFC 8594). */
export function registerDeprecations(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode < 400) reply.headers(deprecationHeaders(request));
    done(null, payload);
  });
}

/** The headers of a response about the deprecated parts that its request names; most have none. */
export function deprecationHeaders(request: FastifyRequest): Record<string, string> {
  const { ctx, routeOptions, params, query, body } = request;
  // forms of public portals name what the portal offers
  if (!ctx?.metamodel?.deprecations.size || ctx.caller.userId === null) return {};
  const parts = deprecatedParts(ctx.metamodel, {
    url: routeOptions.url ?? '',
    params: params as Record<string, unknown>,
    query,
    body,
    noted: ctx.noted ?? [],
  });
  if (parts.length === 0) return {};
  const seconds = (day: string) => Date.parse(day) / 1_000;
  return {
    deprecation: `@${Math.min(...parts.map(({ since, removal }) => seconds(since ?? removal)))}`,
    sunset: new Date(parts[0]!.removal).toUTCString(),
    link: parts.slice(0, MAX_LINKS).map(linkTo).join(', '),
  };
}

/** Where a part is described, with its path as the title. */
function linkTo({ path }: DeprecatedPart): string {
  const [, relation, key] = /^(relation_)?\w+:(\w+)/.exec(path) ?? [];
  const types = relation ? 'relation-types' : 'types';
  return `</api/v1/metamodel/${types}/${key}>; rel="deprecation"; title="${path}"`;
}
