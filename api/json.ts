import type { FastifyReply } from 'fastify';
import { etagOf } from '../domain/kernel/context.ts';
import type { JsonText } from '../domain/kernel/lists/lists.types.ts';

/** A serializer for encoded bodies. Fastify would convert a buffer over shared memory to a string. */
const unchanged = (body: unknown) => body as string;

/** Sends JSON text from the database, or an encoded buffer, without serialising it again. */
export function sendJson(reply: FastifyReply, text: JsonText | Buffer): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').serializer(unchanged).send(text);
}

/** Sends one resource as the response of a write, with the same ETag as a read. */
export function sendResource(reply: FastifyReply, text: JsonText): FastifyReply {
  return sendJson(reply.header('etag', etagOf(text)), text);
}
