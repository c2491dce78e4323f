import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import compress from '@fastify/compress';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../types.ts';

/** The supported content codings, the preferred first. */
const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

/** Bytes: shorter responses are sent as they are. */
export const COMPRESSED_FROM = 1024;
/** Bytes: longer responses are compressed in the thread pool. */
const SYNC_UP_TO = 32 * 1024;

// A window of 256 KiB bounds the memory of each stream; higher qualities take several times longer for a few percent.
const brotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
};
const zlibOptions = { level: 1 };

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/**
 * Compresses responses with Brotli or gzip if the client accepts it. Not those that contain secrets (BREACH), ranges, and
 * media types that are compressed already. ETags are those of the uncompressed representation.
 */
export async function registerCompression(app: App): Promise<void> {
  // before the plugin's own hook
  app.addHook('onRoute', (route) => {
    if (route.config?.secretResponse) route.compress = false;
  });
  await app.register(compress, {
    encodings: [...encodings],
    globalDecompression: false,
    threshold: COMPRESSED_FROM,
    syncThreshold: SYNC_UP_TO,
    brotliOptions,
    zlibOptions,
    // the default includes application/octet-stream
    customTypes: /^text\/(?!event-stream)|[+/](json|xml|x-ndjson)(;|$)/,
  });
}

/** The coding that the client prefers; undefined for none. */
export function acceptedEncoding({ headers }: FastifyRequest): Encoding | undefined {
  const header = headers['accept-encoding'];
  if (typeof header !== 'string') return undefined;
  const chosen = negotiate(header.toLowerCase(), [...encodings, 'identity']);
  return encodings.find((encoding) => encoding === chosen);
}

/** Compresses a complete body in the thread pool. */
export async function compressBody(body: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? await brotliAsync(body, brotliOptions) : await gzipAsync(body, zlibOptions);
}

/** Marks the payload of a response as compressed, so that it is sent as it is. */
export const setEncoding = (reply: FastifyReply, encoding: Encoding): FastifyReply =>
  reply.header('content-encoding', encoding);
