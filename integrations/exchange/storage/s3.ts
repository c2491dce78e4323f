import type { S3Client } from '@aws-sdk/client-s3';
import { EstateError } from '../../../platform/errors.ts';
import { type Outbound, OutboundRefusal } from '../../../platform/outbound.ts';
import { guardedHandler } from './s3.handler.ts';
import type { OutgoingFile, Storage } from './storage.types.ts';

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
