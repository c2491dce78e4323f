import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Ctx, SealedResults } from '../domain/kernel/context.ts';
import type { AppPermission, TokenScope } from '../domain/kernel/permissions/permissions.data.ts';
import type { Credential, SessionSnapshot } from '../domain/kernel/sessions.ts';
import type { Module } from '../domain/kernel/settings/settings.read.ts';

/** The permission of a route: none, any valid token, one application permission, or one of several. */
export type RoutePermission = 'public' | 'login' | AppPermission | AppPermission[];

declare module 'fastify' {
  interface FastifyInstance {
    /** Process number and encryption for requests with an `Idempotency-Key`. */
    idempotency: { processNumber: number; sealed: SealedResults };
  }
  interface FastifyRequest {
    ctx: Ctx;
    /** Versions of all topics, read after the request arrived. */
    topics: SessionSnapshot['topics'];
    /** The credential of the request, if it is well-formed. */
    credential: Credential | undefined;
  }
  interface FastifyContextConfig {
    permission?: RoutePermission;
    /** The scope that an API token with scopes also needs. */
    scope?: TokenScope;
    /** The permission in the OpenAPI document, if the command checks more. */
    permissionNote?: string;
    /** Whether the handler applies the `Idempotency-Key` itself, since its body (an upload) is not parsed before. */
    ownIdempotency?: boolean;
    /** Whether the handler reads the body, of any media type. */
    ownBody?: boolean;
    /** Whether responses contain secrets: they are encrypted if stored for an `Idempotency-Key`. */
    secretResponse?: boolean;
    /** Whether a token that can only be used to set up the second factor is accepted. */
    duringSetup?: boolean;
    /** Whether a single-use ticket in the query can replace the Authorization header. */
    ticket?: boolean;
    /** The module of the route; while it is disabled, the route is refused. */
    module?: Module;
    /** Whether a public route works without the database: it has no `ctx`. */
    alone?: boolean;
  }
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger>;
