import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { invalidField } from '../platform/errors.ts';
import type { Answer, OperationSpec } from './operation.spec.ts';
import { bodyLimits } from './plugins/bodies.ts';
import type { App } from './types.ts';

/** The answers as the framework serialises them; everything else that is said of them is added to the description. */
function responses(answers: Record<number, Answer>): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(answers).map(
      ([status, { description, schema, mediaType = 'application/json', otherMedia = [] }]) => {
        if (!schema) return [status, { description, type: 'null' }];
        const own = [mediaType].flat().map((type) => [type, { schema }]);
        const other = otherMedia.map((type) => [type, { schema: Type.String() }]);
        return [status, { description, content: Object.fromEntries([...own, ...other]) }];
      },
    ),
  );
}

/** The query of an operation that takes none: a key in it is unknown like any other. */
const noQuery = Type.Object({}, { additionalProperties: false });

/** Refuses a body that nobody would read. An empty object says nothing, and many clients always send one. */
function refuseBody({ body }: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  const says = body !== undefined && body !== null;
  const empty = says && typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0;
  done(!says || empty ? undefined : invalidField('body', 'unknown_field', 'This operation takes no body.'));
}

/** Nobody between the service and the client keeps what holds secrets, refusals and replays included. */
function keepNowhere(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  reply.header('cache-control', 'no-store');
  done(null, payload);
}

/** A POST all members of whose body may be missing needs none. */
function optionalBody({ method, body }: Pick<OperationSpec, 'method' | 'body'>) {
  const { type, required } = body as { type?: string; required?: string[] };
  if (method !== 'POST' || type !== 'object' || (required ?? []).length > 0) return {};
  return {
    preValidation: (request: FastifyRequest, _reply: unknown, done: () => void) => {
      request.body ??= {};
      done();
    },
  };
}

/**
 * Declares one operation: its route, schemas, permission and its place in the API's description, all from
 * one statement. The handler gets checked input and the request's context and calls one command or query.
 */
export function operation<P extends TSchema, Q extends TSchema, B extends TSchema>(
  app: App,
  spec: OperationSpec<P, Q, B>,
): void {
  if (app.operations.has(spec.id)) throw new Error(`two operations have the name ${spec.id}`);
  app.operations.set(spec.id, spec as unknown as OperationSpec);
  app.route({
    method: spec.method,
    url: spec.url,
    bodyLimit:
      spec.bodyLimit ?? (spec.permission === 'public' ? bodyLimits.publicBytes : bodyLimits.jsonBytes),
    ...(spec.early ? { onRequest: spec.early } : {}),
    ...(spec.consumes ? {} : spec.body ? optionalBody(spec) : { preValidation: refuseBody }),
    ...(spec.secretAnswer ? { onSend: keepNowhere } : {}),
    config: {
      permission: spec.permission,
      ...(spec.scope ? { scope: spec.scope } : {}),
      ...(spec.consumes ? { ownBody: true } : {}),
      ...(spec.ownIdempotency ? { ownIdempotency: true } : {}),
      ...(spec.secretAnswer ? { secretAnswer: true } : {}),
      ...(spec.duringSetup ? { duringSetup: true } : {}),
      ...(spec.ticket ? { ticket: true } : {}),
      ...(spec.module ? { module: spec.module } : {}),
      ...(spec.alone ? { alone: true } : {}),
    },
    schema: {
      operationId: spec.id,
      tags: [spec.tag],
      summary: spec.summary,
      ...(spec.params ? { params: spec.params } : {}),
      querystring: spec.query ?? noQuery,
      ...(spec.body && !spec.consumes ? { body: spec.body } : {}),
      response: responses(spec.answers),
    } as never,
    handler: (request, reply) =>
      spec.handler({
        ctx: request.ctx,
        params: request.params as Static<P>,
        query: request.query as Static<Q>,
        body: request.body as Static<B>,
        request,
        reply,
      }),
  });
}
