import type { FastifyRequest, HTTPMethods } from 'fastify';
import { joinBatch } from '../../domain/kernel/command.ts';
import { invalidField } from '../../platform/errors.ts';
import { isUuid } from '../../platform/uuid.ts';
import { joinsBatches, refusesBatches } from '../operation.ts';
import type { App } from '../types.ts';

const origins = ['api', 'web', 'mcp'] as const;

/**
 * `X-Mutation-Batch` adds the write to an open batch of the caller, `X-Action-Id` to the batch of one action of the
 * user; `X-Request-Origin` is the kind of client. Responses name the batch in which the request has written.
 */
export function registerBatches(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { ctx, headers } = request;
    const isPresent = ['x-request-origin', 'x-mutation-batch', 'x-action-id'].some((name) => name in headers);
    if (!ctx || !isPresent) done();
    else applyBatchHeaders(request).then(() => done(), done);
  });
  app.addHook('onSend', ({ ctx }, reply, payload, done) => {
    // the writes of a started job are in the batch of the job's id
    if (ctx?.position !== undefined && ctx.batch.isStored && reply.statusCode !== 202) {
      reply.header('x-mutation-batch', ctx.batch.id);
    }
    done(null, payload);
  });
}

async function applyBatchHeaders({ ctx, headers, method, routeOptions }: FastifyRequest): Promise<void> {
  const origin = headers['x-request-origin'];
  const batch = headers['x-mutation-batch'];
  if (origin !== undefined) {
    const known = origins.find((name) => name === origin);
    if (!known)
      throw invalidField('X-Request-Origin', 'unknown_value', `must be one of ${origins.join(', ')}`);
    ctx.origin = known;
  }
  const action = headers['x-action-id'];
  if (batch === undefined && action === undefined) return;
  if (batch !== undefined && action !== undefined)
    throw invalidField('X-Action-Id', 'not_offered', 'cannot be sent with X-Mutation-Batch');
  const name = batch === undefined ? 'X-Action-Id' : 'X-Mutation-Batch';
  const { url = '', config } = routeOptions;
  const operation = { ...config, method: method as HTTPMethods, url };
  if (refusesBatches(operation)) {
    const message = 'cannot be sent here: what the operation starts is not part of the batch';
    throw invalidField(name, 'not_offered', message);
  }
  if (!joinsBatches(operation)) return;
  const given = batch ?? action;
  if (typeof given !== 'string' || !isUuid(given)) throw invalidField(name, 'malformed_id', 'must be a UUID');
  const id = given.toLowerCase();
  if (batch !== undefined) ctx.batch = await joinBatch(ctx, id);
  else ctx.batch = { ...ctx.batch, id, byClient: true };
}
