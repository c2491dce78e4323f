import type { S3Client } from '@aws-sdk/client-s3';
import { EstateError } from '../../platform/errors.ts';
import { type Outbound, OutboundRefusal } from '../../platform/outbound.ts';
import { guardedHandler } from './s3.handler.ts';
import type { OutgoingFile, Storage } from './storage.types.ts';

export interface S3Options {
  endpoint: string;
  region: string;
  bucket: string;
  /** Stands before each name. */
  prefix: string;
  pathStyle: boolean;
  accessKeyId: string;
  secretAccessKey: string;
  outbound: Outbound;
  /** How often a request is tried, with growing pauses; five times unless given. */
  attempts?: number;
}

/** Up to here a file goes in one piece; longer ones in parts of this size, of which a store takes 10,000. */
const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;
/** More than this no store copies in one step. */
const MAX_COPY_BYTES = 5 * 1024 ** 3;
const PARTS_AT_ONCE = 2;
const ATTEMPTS = 5;

/**
 * A bucket of an S3-compatible store. Every request is signed (Signature Version 4) and goes through the guard of outgoing
 * requests.
 * @throws EstateError `storage_refused` for what another try would not change, `upstream_failed` else.
 */
export async function s3Storage(options: S3Options): Promise<Storage> {
  // only who uses it waits for it to be loaded
  const s3 = await import('@aws-sdk/client-s3');
  const { Upload } = await import('@aws-sdk/lib-storage');
  const client: S3Client = new s3.S3Client({
    endpoint: options.endpoint,
    region: options.region,
    forcePathStyle: options.pathStyle,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    maxAttempts: options.attempts ?? ATTEMPTS,
    requestHandler: guardedHandler(options.outbound),
    // not every store knows the newer checksums
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const Bucket = options.bucket;
  const keyOf = (name: string): string => `${options.prefix}${name}`;

  /** Frees what an upload that was broken off by a killed process has left behind. */
  const abortLeft = async (Key: string): Promise<void> => {
    const left = await client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
    for (const { Key: key, UploadId } of left.Uploads ?? []) {
      if (key === Key) await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  };

  const put = async (file: OutgoingFile, name: string, signal: AbortSignal): Promise<void> => {
    const Key = keyOf(name);
    // a store without this list, or a key that may not read it, cleans up by rules of its own
    if (file.size > PART_BYTES) await abortLeft(Key).catch(() => undefined);
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
      // a file that cannot be read is no failure of the storage
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

/** Answers after which the same request may well succeed. */
const passing = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/** Wraps what opening or reading a local file has thrown. */
class FileFailure extends Error {
  constructor(error: unknown) {
    super('a file could not be read', { cause: error });
  }
}

/** The codes of errors that are repeated, with what to do. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['InvalidAccessKeyId', 'check the access key'],
  ['SignatureDoesNotMatch', 'check the secret access key'],
  ['ExpiredToken', 'give an access key that does not expire'],
  ['AccessDenied', 'allow the access key to write, copy and delete objects with the prefix in the bucket'],
  ['NoSuchBucket', 'check the name of the bucket'],
  ['AuthorizationHeaderMalformed', 'check the region'],
  ['PermanentRedirect', 'check the region and the endpoint'],
  ['RequestTimeTooSkewed', 'compare the clock of the service with that of the storage'],
  ['QuotaExceeded', 'free room in the bucket'],
  ['SlowDown', ''],
  ['InternalError', ''],
  ['ServiceUnavailable', ''],
]);

/**
 * What a user may know of a failure. An answer can repeat the credentials and signatures that were sent, in the code of the
 * error too: nothing of its text is stored, not even as the cause, and only codes of `ADVICE` are repeated.
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
      'The answer of the storage could not be read: check that the endpoint is an S3-compatible store.',
    );
  }
  const known = ADVICE.get(name);
  const advice = known ?? 'check the endpoint, the region, the bucket and the access key';
  return new EstateError(
    passing(status) ? 'upstream_failed' : 'storage_refused',
    `The storage answered ${status}${known === undefined ? '' : ` (${name})`}${advice && !passing(status) ? `: ${advice}` : ''}.`,
  );
}
