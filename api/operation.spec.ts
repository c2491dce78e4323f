import type { FastifyReply, FastifyRequest, HTTPMethods, onRequestHookHandler } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Ctx } from '../domain/kernel/context.ts';
import type { TokenScope } from '../domain/kernel/permissions/permissions.data.ts';
import type { Module } from '../domain/kernel/settings/modules.ts';
import { type ErrorCode, errorCodes } from '../platform/errors.ts';
import type { AnswerHeader, RequestHeader } from './openapi/headers.ts';
import type { RoutePermission } from './types.ts';

/** One answer of an operation that is not an error. */
export interface Answer {
  description: string;
  /** Absent for empty answers. Schemas with an `$id` in it become components of the API's description. */
  schema?: TSchema;
  /** Media type when it is not JSON; several where a file may be of any of them. */
  mediaType?: string | string[];
  /** Media types in which the same may be had besides, as text or bytes. */
  otherMedia?: readonly string[];
  /** An example that fits the schema; without one it is derived from the schema. */
  example?: unknown;
  /** Headers besides those that follow from method and status. */
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

/** What one operation of a group declares: its schemas, permission and its place in the API's description. */
export interface RouteSpec<
  P extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  U extends string = string,
> {
  tag?: string;
  permission?: RoutePermission;
  /** Unique, camel case; the name under which generated clients know it. */
  id: string;
  summary: string;
  description?: string;
  /** What is needed besides, each as `what, when or for what`, parted by `; `: it is shown as a list. */
  permissionNote?: string;
  /** The scope that an API token with scopes needs besides, for what is the caller's own and needs only a login. */
  scope?: TokenScope;
  /** By default each parameter of the path is a UUID. */
  params?: P;
  query?: Q;
  body?: B;
  /** An example of the body that fits the schema; without one it is derived from the schema. */
  bodyExample?: unknown;
  /** Bodies that are not JSON, by media type; they are described, and read by the handler. */
  consumes?: string[] | Record<string, RawBody>;
  /** By status; by default the 204 of a deletion. */
  answers?: Record<number, Answer>;
  /** Codes that this operation answers besides those which follow from its declaration. */
  errors?: ErrorCode[];
  /** Request headers besides those that follow from method and permission; `If-Match` brings its error. */
  headers?: RequestHeader[];
  bodyLimit?: number;
  ownIdempotency?: boolean;
  /** Whether answers hold secrets: no cache keeps them, and those that are kept for repetitions are sealed. */
  secretAnswer?: boolean;
  /** Whether a token that only serves to set up the second factor is taken. */
  duringSetup?: boolean;
  /** Whether a single-use ticket in the query may stand in for the header. */
  ticket?: boolean;
  /** The module that the operation belongs to: switched off, the operation is refused with `module_disabled`. */
  module?: Module;
  /** Whether a public operation answers without the database, also while that is away: its handler gets no `ctx`. */
  alone?: boolean;
  /** Whether bodies and errors have the form of SCIM (RFC 7644). */
  scim?: boolean;
  /** Whether errors have the form of OData (JSON format 4.01, 21.1). */
  odata?: boolean;
  /** Whether errors of the protocol itself are messages of JSON-RPC, beside problem documents. */
  mcp?: boolean;
  /** Whether errors are pages for those who ask for one, beside problem documents. */
  html?: boolean;
  /** May answer a request whose caller holds the permission before its query and body are looked at. */
  early?: onRequestHookHandler;
  /**
   * Calls one command or query. Its result is sent with the only declared status: nothing for 204, text as it is, which is
   * JSON from the database, and for writes with the ETag of the resource. A handler that sends by itself returns the reply.
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

/** What operations have in common, declared once. An operation that declares a member itself overrides it. */
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

/** Whether a repeated request may be recognised by its `Idempotency-Key`. */
export function takesIdempotencyKey(spec: OperationSpec): boolean {
  return spec.permission !== 'public' && (spec.method === 'POST' || spec.method === 'PATCH');
}

/**
 * Logins and batches themselves are part of no batch: what guards them is never only tried. Tools of MCP join batches by an
 * argument.
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

/** Every code that the operation may answer: those which follow from its declaration, and its own. */
export function errorCodesOf(spec: OperationSpec): ErrorCode[] {
  const codes = new Set<ErrorCode>(spec.errors);
  if (spec.permission !== 'public') codes.add('unauthorized');
  // the bounds on open requests without a login, and on bodies that are held in memory
  if (spec.permission === 'public' || spec.body || spec.consumes) codes.add('too_many_requests');
  if (spec.permission !== 'public' && (spec.permission !== 'login' || spec.permissionNote || spec.scope)) {
    codes.add('forbidden');
  }
  if (spec.module) codes.add('module_disabled');
  // whatever the operation takes: what it does not know is refused
  codes.add('validation_failed');
  if (spec.params) codes.add('not_found');
  // the id of a card that was merged: see the plugin of problems
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

/** SCIM knows no 422 (RFC 7644, 3.12): what does not fit is one code there. */
export const scimCode = (code: ErrorCode): ErrorCode =>
  errorCodes[code].status === 422 ? 'scim_invalid_value' : code;
