import type { FastifyRequest } from 'fastify';
import { deprecatedParts, renameParts } from '../../domain/inventory/metamodel/usage/requests.ts';
import { type DeprecatedPart, noteParts } from '../../domain/kernel/metamodel/deprecations.ts';
import type { App } from '../types.ts';

const MAX_LINKS = 5;

/**
 * Requests may name renamed parts by their former keys. Responses to requests that name deprecated parts of the metamodel
 * say so (RFC 9745, RFC 8594).
 */
export function registerDeprecations(app: App): void {
  app.addHook('preValidation', (request, _reply, done) => {
    const { ctx } = request;
    if (ctx?.metamodel?.aliases.size && ctx.caller.userId !== null)
      noteParts(ctx, ctx.metamodel, renameParts(ctx.metamodel, namedBy(request)));
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode < 400) reply.headers(deprecationHeaders(request));
    done(null, payload);
  });
}

/** The headers of a response about the deprecated parts that its request names; most have none. */
export function deprecationHeaders(request: FastifyRequest): Record<string, string> {
  const { ctx } = request;
  // forms of public portals name what the portal offers
  if (!ctx?.metamodel?.deprecations.size || ctx.caller.userId === null) return {};
  const parts = deprecatedParts(ctx.metamodel, { ...namedBy(request), noted: ctx.noted ?? [] });
  if (parts.length === 0) return {};
  const seconds = (day: string) => Date.parse(day) / 1_000;
  return {
    deprecation: `@${Math.min(...parts.map(({ since, removal }) => seconds(since ?? removal)))}`,
    sunset: new Date(parts[0]!.removal).toUTCString(),
    link: parts.slice(0, MAX_LINKS).map(linkTo).join(', '),
  };
}

const namedBy = ({ routeOptions, params, query, body }: FastifyRequest) => ({
  url: routeOptions.url ?? '',
  params: params as Record<string, unknown>,
  query,
  body,
});

/** Where a part is described, with its path as the title. */
function linkTo({ path }: DeprecatedPart): string {
  const [, relation, key] = /^(relation_)?\w+:(\w+)/.exec(path) ?? [];
  const types = relation ? 'relation-types' : 'types';
  return `</api/v1/metamodel/${types}/${key}>; rel="deprecation"; title="${path}"`;
}
