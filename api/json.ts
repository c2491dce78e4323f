import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { etagOf } from '../domain/kernel/context.ts';
import type { JsonText } from '../domain/kernel/lists/lists.types.ts';

/** A serializer for encoded bodies. Fastify would convert a buffer over shared memory to a string. */
const unchanged = (body: unknown) => body as string;

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends JSON text from the database, or an encoded buffer, without serialising it again. */
export function sendJson(reply: FastifyReply, text: JsonText | Buffer): FastifyReply {
  return reply.header('content-type', JSON_TYPE).serializer(unchanged).send(text);
}

/** Sends one resource as the response of a write, with the same ETag as a read. */
export function sendResource(reply: FastifyReply, text: JsonText): FastifyReply {
  return sendJson(reply.header('etag', etagOf(text)), text);
}

/** Bytes: shorter responses are sent as a whole. */
const WHOLE_UP_TO = 64 * 1024;

/** Sends the chunks of a long JSON text one by one, so that other requests are answered in between. */
export function sendJsonChunks(reply: FastifyReply, chunks: Buffer[], mediaType = JSON_TYPE): FastifyReply {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return reply
    .header('etag', etagOf(chunks))
    .header('content-type', mediaType)
    .header('content-length', length)
    .send(length > WHOLE_UP_TO ? Readable.from(chunks, { objectMode: false }) : Buffer.concat(chunks));
}
