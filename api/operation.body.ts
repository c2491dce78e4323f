import type { FastifyRequest, HTTPMethods } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { invalidField } from '../platform/errors.ts';

/** The members of an operation that determine its body. */
interface BodyMembers {
  method: HTTPMethods;
  body?: TSchema;
  consumes?: unknown;
}

/** Refuses a body of an operation without one. An empty object is accepted, since many clients always send it. */
function refuseBody({ body }: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  const says = body !== undefined && body !== null;
  const empty = says && typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0;
  done(!says || empty ? undefined : invalidField('body', 'unknown_field', 'This operation takes no body.'));
}

/** Whether a request can omit the body: a POST or DELETE of which all members are optional or have a default. */
export function hasOptionalBody({ method, body }: BodyMembers): boolean {
  if (!body || (method !== 'POST' && method !== 'DELETE')) return false;
  const { type, required = [], properties = {} } = body as TObject;
  return type === 'object' && required.every((name) => 'default' in properties[name]!);
}

/** Refuses a body that the operation does not take, and completes one that can be omitted. */
export function bodyHook(spec: BodyMembers) {
  if (spec.consumes) return {};
  if (!spec.body) return { preValidation: refuseBody };
  return hasOptionalBody(spec) ? { preValidation: completeBody } : {};
}

function completeBody(request: FastifyRequest, _reply: unknown, done: () => void): void {
  request.body ??= {};
  done();
}
