import type { FastifyReply, FastifyRequest, HTTPMethods, onRequestHookHandler } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import type { Ctx } from '../domain/kernel/context.ts';
import type { TicketPurpose } from '../domain/kernel/events/tickets.ts';
import { readList, readOne } from '../domain/kernel/lists/lists.define.ts';
import type { Filters, ListParamsOf, RequestList, RouteList } from '../domain/kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE } from '../domain/kernel/metamodel/languages.ts';
import type { TokenScope } from '../domain/kernel/permissions/permissions.data.ts';
import type { Module } from '../domain/kernel/settings/settings.read.ts';
import { Key, object, Uuid } from '../domain/kernel/shapes.ts';
import { type ErrorCode, errorCodes } from '../platform/errors.ts';
import { createUserSemaphore } from '../platform/semaphore.ts';
import { sendJson, sendResource } from './json.ts';
import { negotiateLanguage } from './language.ts';
import type { RequestHeader, ResponseHeader } from './openapi/headers.ts';
import { bodyHook } from './operation.body.ts';
import { type OperationResponse, responseSchemas } from './operation.responses.ts';
import { bodyLimits } from './plugins/bodies.ts';
import { filterSchemas, listQuery, listResponse } from './schemas.ts';
import type { App, RoutePermission } from './types.ts';

/** The body of a media type that is not JSON. */
export interface RawBody {
  /** Absent: text for `text/*` and NDJSON, one `file` for multipart. */
  schema?: TSchema;
  example?: unknown;
}

/** The parameters in a path, such as `card_id` in `/cards/:card_id`. */
type PathParams<U extends string> = string extends U
  ? Record<string, string>
  : U extends `${string}:${infer Name}/${infer Rest}`
    ? Record<Name, string> & PathParams<`/${Rest}`>
    : U extends `${string}:${infer Name}`
      ? Record<Name, string>
      : unknown;

/** The declaration of one operation: schemas, permission and description. */
export interface RouteSpec<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  U extends string = string,
> {
  tag?: string;
  permission?: RoutePermission;
  summary: string;
  description?: string;
  /** Additional requirements as `what, when or for what`, separated by `; `; shown as a list. */
  permissionNote?: string;
  /** The scope that an API token with scopes needs for operations on the caller's own objects. */
  scope?: TokenScope;
  /** By default each parameter of the path is a UUID, and one named `key` or `..._key` a key. */
  params?: P;
  query?: Q;
  body?: B;
  /** A valid example of the body; by default it is derived from the schema. */
  bodyExample?: unknown;
  /** Bodies that are not JSON, by media type; the handler reads them. */
  consumes?: string[] | Record<string, RawBody>;
  /** By status; default 204. */
  responses?: Record<number, OperationResponse>;
  /** Error codes in addition to those derived from the declaration. */
  errors?: ErrorCode[];
  /** For texts in the language of `Accept-Language`: returns the languages that have translations. */
  languages?(ctx: Ctx): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** Whether `If-Match` is supported; by default for PATCH. */
  ifMatch?: boolean;
  /** Request headers in addition to those derived from the other members. */
  headers?: RequestHeader[];
  bodyLimit?: number;
  /** Whether the handler applies the `Idempotency-Key` itself, since its body (an upload) is not parsed before. */
  ownIdempotency?: boolean;
  /** Whether responses contain secrets: they are not cacheable, and encrypted if stored for an Idempotency-Key. */
  secretResponse?: boolean;
  /** Whether a token that can only be used to set up the second factor is accepted. */
  duringSetup?: boolean;
  /** What single-use ticket in the query can replace the Authorization header. */
  ticket?: TicketPurpose;
  /** The module of the operation; while it is disabled, the operation is refused with `module_disabled`. */
  module?: Module;
  /** Whether a public operation works without the database; its handler gets no `ctx`. */
  alone?: boolean;
  /**
   * The format of errors, and for SCIM (RFC 7644) of bodies; OData is that of its JSON format 4.01, 21.1. JSON-RPC messages
   * and HTML pages are sent in addition to problem documents, which are the default.
   */
  format?: 'scim' | 'odata' | 'mcp' | 'html';
  /** Called after the permission check and before validation; may send the response. */
  early?: onRequestHookHandler;
  /**
   * Calls one command or query. Its result is sent with the only declared status: nothing for 204, a string unchanged (JSON
   * from the database), and for writes with the ETag of the resource. A handler that sends the response returns the reply.
   */
  handler(input: {
    ctx: Ctx;
    params: TSchema extends P ? PathParams<U> : Static<P>;
    query: Static<Q>;
    body: Static<B>;
    /** The default language, unless the operation declares `languages`. */
    language: string;
    request: FastifyRequest;
    reply: FastifyReply;
  }): Promise<unknown>;
}

/** Common members of operations. A member of the operation itself overrides the group's. */
interface RouteGroup extends Partial<Omit<RouteSpec, 'summary' | 'handler'>> {
  tag: string;
}

/** A group of a module's operations. */
export const routeGroup = (
  tag: string,
  module: Module,
  permission: RoutePermission,
  permissionNote: string,
) => ({ tag, module, permission, permissionNote });

/** A complete operation, with its route. */
export interface OperationSpec extends RouteSpec {
  id: string;
  method: HTTPMethods;
  url: string;
  tag: string;
  permission: RoutePermission;
  responses: Record<number, OperationResponse>;
}

declare module 'fastify' {
  /** The configuration of an operation's route is its declaration. */
  interface FastifyContextConfig extends Partial<OperationSpec> {}
}

/** Whether the operation supports `Idempotency-Key`. */
export function takesIdempotencyKey(spec: OperationSpec): boolean {
  return spec.permission !== 'public' && (spec.method === 'POST' || spec.method === 'PATCH');
}

/** Whether the operation supports `If-Match`, with the error `precondition_failed`. */
export const takesIfMatch = ({ ifMatch, method }: OperationSpec): boolean => ifMatch ?? method === 'PATCH';

/**
 * Logins and batches themselves never join a batch: their safeguards must not be part of a dry run. MCP tools have an
 * argument for the batch.
 */
const apart = /^\/(api\/v1\/(auth|mutation-batches)|mcp)(\/|$)/;

type BatchMembers = Pick<OperationSpec, 'method' | 'url'> & Partial<OperationSpec>;

/** Whether an operation writes, and is not one that ignores open batches. */
function meetsBatches({ method, url, permission }: BatchMembers): boolean {
  const reads = ['GET', 'HEAD', 'OPTIONS'].includes(String(method));
  return !reads && permission !== 'public' && !apart.test(url);
}

/** Whether an operation only starts work, such as a job, that is done after the response. */
const onlyStarts = ({ responses = {} }: BatchMembers): boolean => Object.keys(responses).join() === '202';

/** Whether the writes of an operation can join an open batch. */
export const joinsBatches = (operation: BatchMembers): boolean =>
  meetsBatches(operation) && !onlyStarts(operation);

/** Whether an operation must not be sent with an open batch: the work that it starts would not be part of it. */
export const refusesBatches = (operation: BatchMembers): boolean =>
  meetsBatches(operation) && onlyStarts(operation);

/** All error codes of the operation: derived from its declaration, and declared. */
export function errorCodesOf(spec: OperationSpec): ErrorCode[] {
  const codes = new Set<ErrorCode>(spec.errors);
  if (spec.permission !== 'public') codes.add('unauthorized');
  // the limits on requests without a login, on reads of a user, and on bodies in memory
  if (spec.permission === 'public' || spec.method === 'GET' || spec.body || spec.consumes)
    codes.add('too_many_requests');
  if (spec.permission !== 'public' && (spec.permission !== 'login' || spec.permissionNote || spec.scope)) {
    codes.add('forbidden');
  }
  if (spec.module) codes.add('module_disabled');
  // unknown members and parameters are refused everywhere
  codes.add('validation_failed');
  if (spec.params) codes.add('not_found');
  // the id of a merged card, see `problems.ts`
  if (/\/cards\/:id\b|\/:card_id\b|\/merge$/.test(spec.url))
    codes.add(spec.method === 'GET' ? 'merged' : 'merged_card');
  if ('cursor' in ((spec.query as { properties?: object } | undefined)?.properties ?? {}))
    codes.add('cursor_mismatch').add('cursor_expired');
  if (spec.body || spec.consumes || !['GET', 'HEAD'].includes(String(spec.method))) {
    codes.add('bad_body').add('unsupported_media_type').add('payload_too_large');
  }
  if (joinsBatches(spec)) codes.add('not_found').add('validation_failed').add('wrong_state');
  if (takesIfMatch(spec)) codes.add('precondition_failed');
  if (takesIdempotencyKey(spec)) codes.add('idempotency_key_reused').add('idempotency_in_progress');
  return [...(spec.format === 'scim' ? new Set([...codes].map(scimCode)) : codes)].sort();
}

/** SCIM has no 422 (RFC 7644, 3.12): invalid values have one code. */
export const scimCode = (code: ErrorCode): ErrorCode =>
  errorCodes[code].status === 422 ? 'scim_invalid_value' : code;

/** The response of an operation that has no other. @param headers in addition to those derived from the method. */
export const ok = (
  description: string,
  schema: TSchema,
  ...headers: ResponseHeader[]
): Record<number, OperationResponse> => ({
  200: { description, schema, headers },
});

/** The response with a page of a list. */
export const page = (description: string, item: TSchema) => ok(description, listResponse(item));

/** The response with a created resource. */
export const created = (
  description: string,
  schema: TSchema,
  ...headers: ResponseHeader[]
): Record<number, OperationResponse> => ({
  201: { description, schema, headers: [...headers, 'ETag'] },
});

/** The response with a file of one media type. */
export const file = (
  description: string,
  mediaType: string,
  ...headers: ResponseHeader[]
): Record<number, OperationResponse> => ({
  200: { description, schema: Type.String({ contentMediaType: mediaType }), mediaType, headers },
});

/** Declares the parameters of a path as UUIDs and keys; undefined without parameters. */
function pathParams(url: string): TSchema | undefined {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => [name!, /(^|_)key$/.test(name!) ? Key : Uuid]);
  return names.length > 0 ? object(Object.fromEntries(names)) : undefined;
}

/** Sends the result of a handler with the declared status. */
function sendResult({ method, responses }: OperationSpec, reply: FastifyReply, result: unknown): unknown {
  if (result === reply || reply.sent) return result;
  const [[status, answer] = ['200', undefined], ...others] = Object.entries(responses);
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

/**
 * Declares one operation of a method: `routes.get('readCard', '/api/v1/cards/:id', { summary: ..., handler })`.
 * @param id unique, in camel case: the name of the method in generated clients.
 */
type Declare = <P extends TSchema, Q extends TSchema, B extends TSchema, const U extends string>(
  id: string,
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
    (id, url, spec) =>
      addOperation(app, {
        id,
        params: pathParams(url),
        responses: { 204: { description: 'Deleted' } },
        ...group,
        ...spec,
        method,
        url,
      } as unknown as OperationSpec);
  return {
    /** A GET of a list, with the list's permission and filters. */
    list: <F extends Filters>(
      id: string,
      url: string,
      list: RouteList<F>,
      spec: Omit<RouteSpec, 'query' | 'handler'>,
    ) =>
      declare('GET')(id, url, {
        ...(list.permission ? { permission: list.permission } : {}),
        query: listQuery(list.sorts, list.defaultSort, filterSchemas(list)),
        handler: ({ ctx, params, query, language }) => {
          const path = Object.values(params as Record<string, string>);
          return readList(ctx, list.variant?.(ctx, language) ?? list, query as ListParamsOf<F>, ...path);
        },
        ...spec,
      }),
    /** A GET of one item of a list, whose id is last in the path, with the list's permission. */
    item: (
      id: string,
      url: string,
      list: Omit<RequestList, 'where'>,
      what: string,
      spec: Omit<RouteSpec, 'query' | 'handler'>,
    ) =>
      declare('GET')(id, url, {
        ...(list.permission ? { permission: list.permission } : {}),
        handler: ({ ctx, params }) =>
          readOne(ctx, list, what, Object.values(params as Record<string, string>).at(-1)!),
        ...spec,
      }),
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
  app.route({
    method: spec.method,
    url: spec.url,
    bodyLimit:
      spec.bodyLimit ?? (spec.permission === 'public' ? bodyLimits.publicBytes : bodyLimits.jsonBytes),
    ...(spec.early ? { onRequest: spec.early } : {}),
    ...bodyHook(spec),
    ...(spec.secretResponse ? { onSend: forbidCaching } : {}),
    config: spec,
    schema: {
      operationId: spec.id,
      tags: [spec.tag],
      summary: spec.summary,
      ...(spec.params ? { params: spec.params } : {}),
      querystring: spec.query ?? noQuery,
      ...(spec.body && !spec.consumes ? { body: spec.body } : {}),
      response: responseSchemas(app, spec.responses),
    },
    handler: async (request, reply) => {
      const { ctx, query, body } = request;
      // `If-Match` only applies to operations that declare it, together with the 412 response
      if (ctx && !takesIfMatch(spec)) ctx.ifMatch = undefined;
      const params = request.params as Record<string, string>;
      const language = spec.languages
        ? negotiateLanguage(request, reply, await spec.languages(ctx))
        : DEFAULT_LANGUAGE;
      const handle = async () => await spec.handler({ ctx, params, query, body, language, request, reply });
      const userId = ctx?.caller.userId;
      const isRead = spec.method === 'GET' && userId;
      return sendResult(spec, reply, isRead ? await limitedReads(userId, handle) : await handle());
    },
  });
}
