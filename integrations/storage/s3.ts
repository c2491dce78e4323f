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
    const content = await file.open();
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
    } finally {
      signal.removeEventListener('abort', abort);
      content.destroy();
    }
  };

  const told = async <T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      throw publicFailure(error);
    }
  };

  return {
    put: (file, signal) => told(signal, () => put(file, file.name, signal)),
    publish: (file, as, signal) =>
      told(signal, async () => {
        if (file.size > MAX_COPY_BYTES) return await put(file, as, signal);
        const CopySource = encodeURI(`${Bucket}/${keyOf(file.name)}`);
        await client.send(new s3.CopyObjectCommand({ Bucket, Key: keyOf(as), CopySource }), {
          abortSignal: signal,
        });
      }),
    remove: (name) =>
      told(undefined, async () => {
        await client.send(new s3.DeleteObjectCommand({ Bucket, Key: keyOf(name) }));
      }),
    close: () => client.destroy(),
  };
}

/** Answers after which the same request may well succeed. */
const passing = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/** What whoever keeps the schedule may know of a failure: the store's own words may name what is not theirs. */
function publicFailure(error: unknown): unknown {
  if (error instanceof OutboundRefusal) {
    return new EstateError('storage_refused', error.message, { cause: error });
  }
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (status === undefined) {
    return name === 'TimeoutError'
      ? new EstateError('upstream_failed', 'The storage could not be reached.', { cause: error })
      : error;
  }
  return new EstateError(
    passing(status) ? 'upstream_failed' : 'storage_refused',
    `The storage answered ${status} (${name}).`,
    { cause: error },
  );
}
