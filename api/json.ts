import type { FastifyReply } from 'fastify';
import { etagOf } from '../domain/kernel/etag.ts';
import type { JsonText } from '../domain/kernel/lists/lists.types.ts';

/** For what is written already. Fastify would make a string of a buffer whose memory threads can share. */
const asItIs = (body: unknown) => body as string;

/** Sends JSON, as text from the database or encoded already, without parsing it again. */
export function sendJson(reply: FastifyReply, text: JsonText | Buffer): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').serializer(asItIs).send(text);
}

/** The same for one resource as the answer to a write: with the ETag that a read of it has. */
export function sendResource(reply: FastifyReply, text: JsonText): FastifyReply {
  return sendJson(reply.header('etag', etagOf(text)), text);
}
