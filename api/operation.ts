import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Ctx } from '../domain/context.ts';
import { type ErrorCode, errorCodes } from '../platform/errors.ts';
import type { App, RoutePermission } from './types.ts';

interface Answer {
  description: string;
  /** Absent for empty answers. */
  schema?: TSchema;
  /** Media type when it is not JSON. */
  mediaType?: string;
  /** An example that fits the schema. */
  example?: unknown;
}

export interface OperationSpec<P extends TSchema, Q extends TSchema, B extends TSchema> {
  method: HTTPMethods;
  url: string;
  /** Unique, camel case; the name under which generated clients know it. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  permission: RoutePermission;
  /** For operations that a stakeholder role on the card may allow as well, or that check more. */
  permissionNote?: string;
  params?: P;
  query?: Q;
  body?: B;
  /** An example of the body that fits the schema. */
  bodyExample?: unknown;
  /** Media types of a body that is not JSON, described as binary. */
  consumes?: string[];
  answers: Record<number, Answer>;
  /** Codes that this operation answers besides those which follow from its declaration. */
  errors?: ErrorCode[];
  bodyLimit?: number;
  ownIdempotency?: boolean;
  /** Whether a single-use ticket in the query may stand in for the header. */
  ticket?: boolean;
  handler(input: {
    ctx: Ctx;
    params: Static<P>;
    query: Static<Q>;
    body: Static<B>;
    request: FastifyRequest;
    reply: FastifyReply;
  }): Promise<unknown>;
}

/** The codes that follow from what an operation declares. */
function impliedErrors(spec: OperationSpec<TSchema, TSchema, TSchema>): ErrorCode[] {
  const codes: ErrorCode[] = [];
  if (spec.permission !== 'public') codes.push('unauthorized');
  if (spec.permission !== 'public' && (spec.permission !== 'login' || spec.permissionNote))
    codes.push('forbidden');
  if (spec.params || spec.query || spec.body) codes.push('validation_failed');
  if (spec.params) codes.push('not_found');
  if (spec.body) codes.push('bad_body', 'unsupported_media_type', 'payload_too_large');
  if (spec.permission !== 'public' && (spec.method === 'POST' || spec.method === 'PATCH')) {
    codes.push('idempotency_key_reused', 'idempotency_in_progress');
  }
  return codes;
}

function errorAnswers(codes: ErrorCode[]): Record<number, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...new Set(codes)].sort()) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const answers: Record<number, unknown> = {};
  for (const [status, list] of byStatus) {
    answers[status] = {
      description: list.map((code) => `\`${code}\`: ${errorCodes[code].title}`).join('; '),
      content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
    };
  }
  return answers;
}

function successAnswers(answers: Record<number, Answer>): Record<number, unknown> {
  const described: Record<number, unknown> = {};
  for (const [status, answer] of Object.entries(answers)) {
    const content = answer.schema && {
      [answer.mediaType ?? 'application/json']: {
        schema: answer.schema,
        ...(answer.example === undefined ? {} : { example: answer.example }),
      },
    };
    described[Number(status)] = content
      ? { description: answer.description, content }
      : { description: answer.description, type: 'null' };
  }
  return described;
}

/**
 * Declares one operation: its route, schemas, permission and its place in the API's description, all from
 * one statement. The handler gets checked input and the request's context and calls one command or query.
 */
export function operation<P extends TSchema, Q extends TSchema, B extends TSchema>(
  app: App,
  spec: OperationSpec<P, Q, B>,
): void {
  const codes = [...impliedErrors(spec as never), ...(spec.errors ?? [])];
  app.route({
    method: spec.method,
    url: spec.url,
    ...(spec.bodyLimit ? { bodyLimit: spec.bodyLimit } : {}),
    config: {
      permission: spec.permission,
      ...(spec.permissionNote ? { permissionNote: spec.permissionNote } : {}),
      ...(spec.ownIdempotency ? { ownIdempotency: true } : {}),
      ...(spec.ticket ? { ticket: true } : {}),
    },
    schema: {
      operationId: spec.id,
      tags: [spec.tag],
      summary: spec.summary,
      ...(spec.description ? { description: spec.description } : {}),
      ...(spec.params ? { params: spec.params } : {}),
      ...(spec.query ? { querystring: spec.query } : {}),
      ...(spec.body && !spec.consumes ? { body: withExample(spec.body, spec.bodyExample) } : {}),
      ...(spec.consumes ? { consumes: spec.consumes } : {}),
      response: { ...successAnswers(spec.answers), ...errorAnswers(codes) },
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

function withExample(schema: TSchema, example: unknown): TSchema {
  return example === undefined ? schema : ({ ...schema, examples: [example] } as TSchema);
}
