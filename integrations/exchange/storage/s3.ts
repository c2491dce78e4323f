import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { EstateError } from '../../../platform/errors.ts';
import { type Outbound, OutboundRefusal } from '../../../platform/outbound.ts';
import type { OutgoingFile, Storage } from './storage.types.ts';

const TIMEOUT_MS = 120_000;
// the HTTP client sets the first two; the third is not supported and never signed
const SKIPPED = new Set(['host', 'content-length', 'expect']);

interface Request {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: Uint8Array | string;
}

/** Sends the library's requests through the guard of outgoing requests, with its address rules and proxy settings. */
function guardedHandler(outbound: Outbound): NonNullable<S3ClientConfig['requestHandler']> {
  const handle = async (request: Request, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = abortSignal ? AbortSignal.any([abortSignal, timeout]) : timeout;
    const headers = Object.entries(request.headers).filter(([name]) => !SKIPPED.has(name.toLowerCase()));
    try {
      const response = await outbound.fetch(urlOf(request), {
        method: request.method,
        headers,
        signal,
        ...(request.body === undefined ? {} : { body: request.body as Uint8Array<ArrayBuffer> }),
      });
      return {
        response: {
          statusCode: response.status,
          reason: response.statusText,
          headers: Object.fromEntries(response.headers),
          body: response.body ? Readable.fromWeb(response.body as ReadableStream) : Readable.from([]),
        },
      };
    } catch (error) {
      if (error instanceof OutboundRefusal) throw error;
      abortSignal?.throwIfAborted();
      // the library retries errors with this name
      throw Object.assign(new Error('the connection was lost', { cause: error }), { name: 'TimeoutError' });
    }
  };
  return { handle, updateHttpClientConfig() {}, httpHandlerConfigs: () => ({}) } as never;
}

function urlOf({ protocol, hostname, port, path, query = {} }: Request): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${escaped(name)}=${escaped(one ?? '')}`),
  );
  const search = pairs.length > 0 ? `?${pairs.join('&')}` : '';
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${search}`;
}

/** Percent-encoding as in the signature (RFC 3986, 2.3). */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

export interface S3Options {
  endpoint: string;
  region: string;
  bucket: string;
  /** Prefix of each name. */
  prefix: string;
  pathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  outbound: Outbound;
  /** Maximum attempts per request, with increasing delays; default 5. */
  attempts?: number;
}

/** Maximum size of a single-part upload, and size of the parts of larger files (at most 10,000 parts). */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
/** Maximum size of a single copy operation. */
const MAX_COPY_BYTES = 5 * 1024 ** 3;
const PARTS_AT_ONCE = 2;
const ATTEMPTS = 5;

/**
 * Opens a bucket of an S3-compatible store. Every request is signed (Signature Version 4) and passes the guard of outgoing
 * requests.
 * @throws EstateError `storage_refused` for permanent errors, `upstream_failed` for temporary ones.
 */
export async function s3Storage(options: S3Options): Promise<Storage> {
  // loaded on first use
  const s3 = await import('@aws-sdk/client-s3');
  const { Upload } = await import('@aws-sdk/lib-storage');
  const client: S3Client = new s3.S3Client({
    endpoint: options.endpoint,
    region: options.region,
    forcePathStyle: options.pathStyle,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    maxAttempts: options.attempts ?? ATTEMPTS,
    requestHandler: guardedHandler(options.outbound),
    // not every store supports the newer checksums
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const Bucket = options.bucket;
  const keyOf = (name: string): string => `${options.prefix}${name}`;

  /** Aborts multipart uploads that a killed process has left. */
  const abortStaleUploads = async (Key: string): Promise<void> => {
    const left = await client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
    for (const { Key: key, UploadId } of left.Uploads ?? []) {
      if (key === Key) await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  };

  const put = async (file: OutgoingFile, name: string, signal: AbortSignal): Promise<void> => {
    const Key = keyOf(name);
    // without this operation or the right to it, the store's lifecycle rules have to clean up
    if (file.size > PART_BYTES) await abortStaleUploads(Key).catch(() => undefined);
    const content = await file.open().catch((error: unknown) => Promise.reject(new FileFailure(error)));
    const upload = new Upload({
      client,
      params: {
        Bucket,
        Key,
        Body: content,
        ContentType: file.mediaType,
        Metadata: { sha256: file.sha256 },
      },
      queueSize: PARTS_AT_ONCE,
      partSize: Math.max(PART_BYTES, Math.ceil(file.size / MAX_PARTS)),
    });
    const abort = () => void upload.abort();
    signal.addEventListener('abort', abort);
    try {
      signal.throwIfAborted();
      await upload.done();
    } catch (error) {
      // an error of reading the local file is not an error of the storage
      throw error === content.errored ? new FileFailure(error) : error;
    } finally {
      signal.removeEventListener('abort', abort);
      content.destroy();
    }
  };

  const withoutRemoteText = async <T>(
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      throw publicFailure(error);
    }
  };

  return {
    put: (file, signal) => withoutRemoteText(signal, () => put(file, file.name, signal)),
    publish: (file, as, signal) =>
      withoutRemoteText(signal, async () => {
        if (file.size > MAX_COPY_BYTES) return await put(file, as, signal);
        const CopySource = encodeURI(`${Bucket}/${keyOf(file.name)}`);
        await client.send(new s3.CopyObjectCommand({ Bucket, Key: keyOf(as), CopySource }), {
          abortSignal: signal,
        });
      }),
    remove: (name) =>
      withoutRemoteText(undefined, async () => {
        await client.send(new s3.DeleteObjectCommand({ Bucket, Key: keyOf(name) }));
      }),
    close: () => client.destroy(),
  };
}

/** Statuses after which a retry may succeed. */
const isTemporary = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/** Wraps an error of opening or reading a local file. */
class FileFailure extends Error {
  constructor(error: unknown) {
    super('a file could not be read', { cause: error });
  }
}

/** Error codes that are shown to users, with advice. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['InvalidAccessKeyId', 'check the access key'],
  ['SignatureDoesNotMatch', 'check the secret access key'],
  ['ExpiredToken', 'use an access key that does not expire'],
  ['AccessDenied', 'allow the access key to write, copy and delete objects with the prefix in the bucket'],
  ['NoSuchBucket', 'check the name of the bucket'],
  ['AuthorizationHeaderMalformed', 'check the region'],
  ['PermanentRedirect', 'check the region and the endpoint'],
  ['RequestTimeTooSkewed', 'compare the clock of the service with that of the storage'],
  ['QuotaExceeded', 'free space in the bucket'],
  ['SlowDown', ''],
  ['InternalError', ''],
  ['ServiceUnavailable', ''],
]);

/**
 * Converts a failure to an error for users. A response can contain the sent credentials and signatures, even in its error
 * code: its text is not stored, not even as the cause, and only codes of `ADVICE` are shown.
 */
function publicFailure(error: unknown): unknown {
  if (error instanceof FileFailure) return error.cause;
  if (error instanceof OutboundRefusal) {
    return new EstateError('storage_refused', error.message, { cause: error });
  }
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (status === undefined && name === 'TimeoutError') {
    return new EstateError('upstream_failed', 'The storage could not be reached.', { cause: error });
  }
  if (status === undefined || status < 300) {
    return new EstateError(
      'upstream_failed',
      'The response of the storage could not be parsed: check that the endpoint is an S3-compatible store.',
    );
  }
  const known = ADVICE.get(name);
  const advice = known ?? 'check the endpoint, the region, the bucket and the access key';
  return new EstateError(
    isTemporary(status) ? 'upstream_failed' : 'storage_refused',
    `The storage responded with ${status}${known === undefined ? '' : ` (${name})`}${advice && !isTemporary(status) ? `: ${advice}` : ''}.`,
  );
}
