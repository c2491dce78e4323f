import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import Type, { type TObject, type TSchema } from 'typebox';
import { object, Uuid } from '../domain/kernel/shapes.ts';
import { invalidField } from '../platform/errors.ts';
import { createUserSemaphore } from '../platform/semaphore.ts';
import { sendJson, sendResource } from './json.ts';
import type { AnswerHeader } from './openapi/headers.ts';
import {
  type Answer,
  errorCodesOf,
  type OperationSpec,
  type RouteGroup,
  type RouteSpec,
} from './operation.spec.ts';
import { bodyLimits } from './plugins/bodies.ts';
import { listAnswer } from './schemas/common.ts';
import type { App } from './types.ts';

/** The response of an operation that has no other. @param headers in addition to those derived from the method. */
export const ok = (
  description: string,
  schema: TSchema,
  ...headers: AnswerHeader[]
): Record<number, Answer> => ({
  200: { description, schema, headers },
});

/** The response with a page of a list. */
export const page = (description: string, item: TSchema) => ok(description, listAnswer(item));

/** The response with a created resource. */
export const created = (description: string, schema: TSchema): Record<number, Answer> => ({
  201: { description, schema, headers: ['ETag'] },
});

/** The response schemas for the serialisers; the rest of the declaration is added to the OpenAPI document. */
function responses(app: App, answers: Record<number, Answer>): Record<number, unknown> {
  return Object.fromEntries(
    Object.entries(answers).map(
      ([status, { description, schema: declared, mediaType = 'application/json', otherMedia = [] }]) => {
        if (!declared) return [status, { description, type: 'null' }];
        const schema = withComponents(app, declared);
        const own = [mediaType].flat().map((type) => [type, { schema }]);
        const other = otherMedia.map((type) => [type, { schema: Type.String() }]);
        return [status, { description, content: Object.fromEntries([...own, ...other]) }];
      },
    ),
  );
}

/** Replaces schemas with an `$id` by references, and adds them to the application. */
function withComponents(app: App, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withComponents(app, part));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, ...members } = schema as { $id?: string };
  const parts = Object.entries(members).map(([name, part]) => [name, withComponents(app, part)]);
  if ($id === undefined) return Object.fromEntries(parts);
  if (!app.getSchema($id)) app.addSchema({ ...Object.fromEntries(parts), $id });
  return { $ref: `${$id}#` };
}

/** Declares the parameters of a path as UUIDs; undefined without parameters. */
function pathParams(url: string): TSchema | undefined {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => [name!, Uuid]);
  return names.length > 0 ? object(Object.fromEntries(names)) : undefined;
}

/** Sends the result of a handler with the declared status. */
function sendResult({ method, answers }: OperationSpec, reply: FastifyReply, result: unknown): unknown {
  if (result === reply || reply.sent) return result;
  const [[status, answer] = ['200', undefined], ...others] = Object.entries(answers);
  if (others.length === 0) {
    reply.code(Number(status));
    if (status === '204') return reply.send();
    const { links } = Object(result) as { links?: { self: string } };
    if (status === '202' && links) reply.header('location', links.self);
  }
  if (answer?.mediaType !== undefined) return result;
  if (Buffer.isBuffer(result)) return sendJson(reply, result);
  if (typeof result !== 'string') return result;
  const isResource = method === 'PATCH' || method === 'PUT' || answer?.headers?.includes('ETag');
  return isResource ? sendResource(reply, result) : sendJson(reply, result);
}

/** The query schema of an operation without query parameters. */
const noQuery = Type.Object({}, { additionalProperties: false });

/** Refuses a body of an operation without one. An empty object is accepted, since many clients always send it. */
function refuseBody({ body }: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  const says = body !== undefined && body !== null;
  const empty = says && typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0;
  done(!says || empty ? undefined : invalidField('body', 'unknown_field', 'This operation takes no body.'));
}

/** Forbids caching of responses of operations with secrets, including errors and replays. */
function forbidCaching(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  reply.header('cache-control', 'no-store');
  done(null, payload);
}

/** Whether a request can omit the body: a POST of which all members are optional or have a default. */
export function hasOptionalBody({ method, body }: Pick<OperationSpec, 'method' | 'body'>): boolean {
  if (!body || method !== 'POST') return false;
  const { type, required = [], properties = {} } = body as TObject;
  return type === 'object' && required.every((name) => 'default' in properties[name]!);
}

const emptyBody = {
  preValidation: (request: FastifyRequest, _reply: unknown, done: () => void) => {
    request.body ??= {};
    done();
  },
};

/** Declares one operation of a method: `routes.get('/api/v1/cards/:id', { id: 'readCard', summary: ..., handler })`. */
type Declare = <P extends TSchema, Q extends TSchema, B extends TSchema, const U extends string>(
  url: U,
  spec: RouteSpec<P, Q, B, U>,
) => void;

/**
 * Returns functions that declare operations with common members, such as the tag and the permission. Route, schemas,
 * permission and description follow from one declaration. The handler gets validated input and the request's context.
 */
export function routesOf(app: App, group: RouteGroup) {
  const declare =
    (method: HTTPMethods): Declare =>
    (url, spec) =>
      addOperation(app, {
        params: pathParams(url),
        answers: { 204: { description: 'Deleted' } },
        ...group,
        ...spec,
        method,
        url,
      } as unknown as OperationSpec);
  return {
    get: declare('GET'),
    post: declare('POST'),
    put: declare('PUT'),
    patch: declare('PATCH'),
    delete: declare('DELETE'),
  };
}

/** Reads of one user that run at once leave half of the database's connections for other users. */
const limitedReads = createUserSemaphore({ running: Number.MAX_SAFE_INTEGER, ofOneUser: 8, queued: 1_000 });

/** Adds the route of an operation. */
function addOperation(app: App, spec: OperationSpec): void {
  if (app.operations.has(spec.id)) throw new Error(`two operations have the id ${spec.id}`);
  app.operations.set(spec.id, spec);
  const takesIfMatch = errorCodesOf(spec).includes('precondition_failed');
  app.route({
    method: spec.method,
    url: spec.url,
    bodyLimit:
      spec.bodyLimit ?? (spec.permission === 'public' ? bodyLimits.publicBytes : bodyLimits.jsonBytes),
    ...(spec.early ? { onRequest: spec.early } : {}),
    ...(spec.consumes || (spec.body && !hasOptionalBody(spec))
      ? {}
      : spec.body
        ? emptyBody
        : { preValidation: refuseBody }),
    ...(spec.secretAnswer ? { onSend: forbidCaching } : {}),
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
      response: responses(app, spec.answers),
    } as never,
    handler: async (request, reply) => {
      const { ctx, query, body } = request;
      // `If-Match` only applies to operations that declare it, together with the 412 response
      if (ctx && !takesIfMatch) ctx.ifMatch = undefined;
      const params = request.params as Record<string, string>;
      const handle = async () => await spec.handler({ ctx, params, query, body, request, reply });
      const userId = ctx?.caller.userId;
      const isRead = spec.method === 'GET' && userId;
      return sendResult(spec, reply, isRead ? await limitedReads(userId, handle) : await handle());
    },
  });
}
