import type { FastifyReply, FastifyRequest, HTTPMethods, onRequestHookHandler } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Ctx } from '../domain/kernel/context.ts';
import type { TokenScope } from '../domain/kernel/permissions/permissions.data.ts';
import type { Module } from '../domain/kernel/settings/modules.ts';
import { type ErrorCode, errorCodes } from '../platform/errors.ts';
import type { AnswerHeader, RequestHeader } from './openapi/headers.ts';
import type { RoutePermission } from './types.ts';

/** A successful response of an operation. */
export interface Answer {
  description: string;
  /** Absent for empty responses. Schemas with an `$id` become components of the OpenAPI document. */
  schema?: TSchema;
  /** Media type if it is not JSON; several if a file can have any of them. */
  mediaType?: string | string[];
  /** Alternative media types of the same content. */
  otherMedia?: readonly string[];
  /** A valid example; by default it is derived from the schema. */
  example?: unknown;
  /** Headers in addition to those derived from method and status. */
  headers?: AnswerHeader[];
}

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
  /** Unique operation id in camel case; method name in generated clients. */
  id: string;
  summary: string;
  description?: string;
  /** Additional requirements as `what, when or for what`, separated by `; `; shown as a list. */
  permissionNote?: string;
  /** The scope that an API token with scopes needs for operations on the caller's own objects. */
  scope?: TokenScope;
  /** By default each parameter of the path is a UUID. */
  params?: P;
  query?: Q;
  body?: B;
  /** A valid example of the body; by default it is derived from the schema. */
  bodyExample?: unknown;
  /** Bodies that are not JSON, by media type; the handler reads them. */
  consumes?: string[] | Record<string, RawBody>;
  /** By status; default 204. */
  answers?: Record<number, Answer>;
  /** Error codes in addition to those derived from the declaration. */
  errors?: ErrorCode[];
  /** Request headers in addition to those derived from method and permission; `If-Match` adds its error. */
  headers?: RequestHeader[];
  bodyLimit?: number;
  ownIdempotency?: boolean;
  /** Whether responses contain secrets: they are not cacheable, and encrypted if stored for an Idempotency-Key. */
  secretAnswer?: boolean;
  /** Whether a token that can only be used to set up the second factor is accepted. */
  duringSetup?: boolean;
  /** Whether a single-use ticket in the query can replace the Authorization header. */
  ticket?: boolean;
  /** The module of the operation; while it is disabled, the operation is refused with `module_disabled`. */
  module?: Module;
  /** Whether a public operation works without the database; its handler gets no `ctx`. */
  alone?: boolean;
  /** Whether bodies and errors have the form of SCIM (RFC 7644). */
  scim?: boolean;
  /** Whether errors have the form of OData (JSON format 4.01, 21.1). */
  odata?: boolean;
  /** Whether protocol errors are JSON-RPC messages, in addition to problem documents. */
  mcp?: boolean;
  /** Whether errors are HTML pages for clients that accept HTML, in addition to problem documents. */
  html?: boolean;
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
    request: FastifyRequest;
    reply: FastifyReply;
  }): Promise<unknown>;
}

/** Common members of operations. A member of the operation itself overrides the group's. */
export interface RouteGroup extends Partial<Omit<RouteSpec, 'id' | 'summary' | 'handler'>> {
  tag: string;
}

/** A complete operation, with its route. */
export interface OperationSpec extends RouteSpec {
  method: HTTPMethods;
  url: string;
  tag: string;
  permission: RoutePermission;
  answers: Record<number, Answer>;
}

/** Whether the operation supports `Idempotency-Key`. */
export function takesIdempotencyKey(spec: OperationSpec): boolean {
  return spec.permission !== 'public' && (spec.method === 'POST' || spec.method === 'PATCH');
}

/**
 * Logins and batches themselves never join a batch: their safeguards must not be part of a dry run. MCP tools have an
 * argument for the batch.
 */
const apart = /^\/(api\/v1\/(auth|mutation-batches)|mcp)(\/|$)/;

/** Whether the writes of an operation can join an open batch. */
export function joinsBatches(operation: {
  method: string | string[];
  url: string;
  permission?: unknown;
}): boolean {
  const reads = ['GET', 'HEAD', 'OPTIONS'].includes(String(operation.method));
  return !reads && operation.permission !== 'public' && !apart.test(operation.url);
}

function takesCursor({ query }: OperationSpec): boolean {
  return 'cursor' in ((query as { properties?: object } | undefined)?.properties ?? {});
}

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
  if (takesCursor(spec)) codes.add('cursor_mismatch').add('cursor_expired');
  if (spec.body || spec.consumes || !['GET', 'HEAD'].includes(String(spec.method))) {
    codes.add('bad_body').add('unsupported_media_type').add('payload_too_large');
  }
  if (joinsBatches(spec)) codes.add('not_found').add('validation_failed').add('wrong_state');
  if (spec.headers?.includes('If-Match')) codes.add('precondition_failed');
  if (takesIdempotencyKey(spec)) codes.add('idempotency_key_reused').add('idempotency_in_progress');
  return [...(spec.scim ? new Set([...codes].map(scimCode)) : codes)].sort();
}

/** SCIM has no 422 (RFC 7644, 3.12): invalid values have one code. */
export const scimCode = (code: ErrorCode): ErrorCode =>
  errorCodes[code].status === 422 ? 'scim_invalid_value' : code;
