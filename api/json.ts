import type { FastifyReply } from 'fastify';
import type { JsonText } from '../domain/lists/lists.types.ts';

/** Sends JSON text as it came from the database, without parsing it again. */
export function sendJson(reply: FastifyReply, text: JsonText): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').serializer(String).send(text);
}
