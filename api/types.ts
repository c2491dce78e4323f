import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Ctx, SealedResults } from '../domain/kernel/context.ts';
import type { AppPermission, TokenScope } from '../domain/kernel/permissions/permissions.data.ts';
import type { Credential, SessionSnapshot } from '../domain/kernel/sessions.ts';
import type { Module } from '../domain/kernel/settings/modules.ts';

/** What a route may demand: nothing, any valid token, one application permission, or one of several. */
export type RoutePermission = 'public' | 'login' | AppPermission | AppPermission[];

declare module 'fastify' {
  interface FastifyInstance {
    /** What requests with an `Idempotency-Key` need: this process's number, and how their secrets are encrypted. */
    idempotency: { processNumber: number; sealed: SealedResults };
  }
  interface FastifyRequest {
    ctx: Ctx;
    /** Versions of all topics as they were after the request arrived. */
    topics: SessionSnapshot['topics'];
    /** What was shown to say who sends it, where it is well-formed. */
    credential: Credential | undefined;
  }
  interface FastifyContextConfig {
    permission?: RoutePermission;
    /** The scope that an API token with scopes needs besides. */
    scope?: TokenScope;
    /** How the permission reads in the API's description where more than it is decided in the command. */
    permissionNote?: string;
    /** Bodies that are not parsed beforehand (uploads) take no part in the generic idempotency check. */
    ownIdempotency?: boolean;
    /** Whether the handler reads the body by itself, whatever its media type. */
    ownBody?: boolean;
    /** Whether answers hold secrets: those that are kept for repetitions are sealed. */
    secretAnswer?: boolean;
    /** Whether a token that only serves to set up the second factor is taken. */
    duringSetup?: boolean;
    /** Whether a single-use ticket in the query may stand in for the header. */
    ticket?: boolean;
    /** The module that the route belongs to; switched off, the route is refused. */
    module?: Module;
    /** Whether a public route needs no session, and so no database: it has no `ctx`. */
    alone?: boolean;
  }
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger>;
