import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawServerDefault,
} from 'fastify';
import type { Ctx, SealedResults } from '../domain/kernel/context.ts';
import type { AppPermission } from '../domain/kernel/permissions/permissions.data.ts';
import type { Credential, SessionSnapshot } from '../domain/kernel/sessions.ts';
import type { EstateError } from '../platform/errors.ts';

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
    /** Whether the web interface sent the request, without an Authorization header. */
    isWebClient: boolean;
  }
}

export type App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger>;

/** How a part of the API writes its errors instead of problem documents (RFC 9457). */
export interface ErrorFormat {
  applies: (request: FastifyRequest, error: EstateError) => boolean;
  body: (error: EstateError, requestId: string) => unknown;
  send: (request: FastifyRequest, reply: FastifyReply, error: EstateError) => FastifyReply;
}
