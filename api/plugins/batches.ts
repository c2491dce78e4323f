import type { FastifyRequest, HTTPMethods } from 'fastify';
import { joinBatch } from '../../domain/kernel/command.ts';
import { invalidField } from '../../platform/errors.ts';
import { isUuid } from '../../platform/uuid.ts';
import { joinsBatches, refusesBatches } from '../operation.ts';
import type { App } from '../types.ts';

const origins = ['api', 'web', 'mcp'] as const;

/** `X-Mutation-Batch` adds the write to an open batch of the caller; `X-Request-Origin` is the kind of client. */
export function registerBatches(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { ctx, headers } = request;
    const isPresent = headers['x-request-origin'] !== undefined || headers['x-mutation-batch'] !== undefined;
    if (!ctx || !isPresent) done();
    else applyBatchHeaders(request).then(() => done(), done);
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
  if (batch === undefined) return;
  const { url = '', config } = routeOptions;
  const operation = { ...config, method: method as HTTPMethods, url };
  if (refusesBatches(operation)) {
    const message = 'cannot be sent here: what the operation starts is not part of the batch';
    throw invalidField('X-Mutation-Batch', 'not_offered', message);
  }
  if (joinsBatches(operation)) {
    if (typeof batch !== 'string' || !isUuid(batch))
      throw invalidField('X-Mutation-Batch', 'malformed_id', 'must be the id of a batch');
    ctx.batch = await joinBatch(ctx, batch.toLowerCase());
  }
}
