import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { serveOnLoopback } from '../support/loopback.ts';
import { type Credentials, signatureFault } from './s3.signature.ts';

/*
 * The documented subset of S3 that extractions use, with the bucket in the path: PutObject, CopyObject, GetObject (with
 * Range), HeadObject, DeleteObject, ListObjectsV2, CreateMultipartUpload, UploadPart, CompleteMultipartUpload,
 * AbortMultipartUpload, ListMultipartUploads. Every request's signature is verified.
 */

interface StoredObject {
  body: Buffer;
  etag: string;
  contentType: string | undefined;
  metadata: Record<string, string>;
}

interface Upload {
  key: string;
  contentType: string | undefined;
  metadata: Record<string, string>;
  parts: Map<number, { body: Buffer; etag: string }>;
}

/** What happens to a request instead of its being carried out. */
type Fault = 'slow-down' | 'reset' | { status: number; body: string } | undefined;

export interface S3Emulator {
  endpoint: string;
  credentials: Credentials;
  bucket: string;
  /** By key. */
  objects: Map<string, StoredObject>;
  uploads: Map<string, Upload>;
  /** `PUT key` and the like, in order, those with faults included. */
  requests: string[];
  /** Asked for each request before it is carried out. */
  fault: (what: {
    method: string;
    key: string;
    query: URLSearchParams;
    headers: IncomingHttpHeaders;
  }) => Fault | Promise<Fault>;
  close(): Promise<void>;
}

const etagOf = (body: Buffer | string): string => `"${createHash('md5').update(body).digest('hex')}"`;
const MIN_PART_BYTES = 5 * 1024 * 1024;

/** A store of the test's own, on loopback. */
export async function startS3(): Promise<S3Emulator> {
  const { origin, close } = await serveOnLoopback((request, response) => serve(emulator, request, response));
  const emulator: S3Emulator = {
    endpoint: origin,
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret of the test', region: 'eu-central-1' },
    bucket: 'warehouse',
    objects: new Map(),
    uploads: new Map(),
    requests: [],
    fault: () => undefined,
    close,
  };
  return emulator;
}

const refusals: Record<string, number> = {
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  EntityTooSmall: 400,
  InvalidPart: 400,
  InvalidRange: 416,
  MethodNotAllowed: 405,
  SlowDown: 503,
};

function refuse(response: ServerResponse, code: string): ServerResponse {
  return response
    .writeHead(refusals[code] ?? 403, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function xml(response: ServerResponse, root: string, content: string): ServerResponse {
  return response
    .writeHead(200, { 'content-type': 'application/xml' })
    .end(
      `<?xml version="1.0"?><${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`,
    );
}

async function serve(s3: S3Emulator, request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const url = new URL(request.url!, s3.endpoint);
  const [bucket = '', ...rest] = decodeURIComponent(url.pathname.slice(1)).split('/');
  const key = rest.join('/');
  const query = url.searchParams;
  const method = request.method!;
  s3.requests.push([method, key, query.get('partNumber')].filter(Boolean).join(' '));
  const fault = await s3.fault({ method, key, query, headers: request.headers });
  if (fault === 'reset') {
    // in the middle of what is sent
    request.once('data', () => request.destroy());
    if (request.headers['content-length'] === undefined) request.destroy();
    return undefined;
  }
  const body = await buffer(request);
  if (fault === 'slow-down') return refuse(response, 'SlowDown');
  if (fault) return response.writeHead(fault.status, { 'content-type': 'application/xml' }).end(fault.body);
  const unsigned = signatureFault(request, body, s3.credentials);
  if (unsigned !== undefined) return refuse(response, unsigned);
  if (bucket !== s3.bucket) return refuse(response, 'NoSuchBucket');
  if (key === '') return ofBucket(s3, method, query, response);
  if (query.has('uploads') || query.has('uploadId')) {
    return ofUpload(s3, { method, key, query, body, request }, response);
  }
  return ofObject(s3, { method, key, body, request }, response);
}

function ofBucket(
  s3: S3Emulator,
  method: string,
  query: URLSearchParams,
  response: ServerResponse,
): ServerResponse {
  const prefix = query.get('prefix') ?? '';
  if (method !== 'GET') return refuse(response, 'MethodNotAllowed');
  if (query.has('uploads')) {
    const found = [...s3.uploads].filter(([, { key }]) => key.startsWith(prefix));
    const items = found.map(
      ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    return xml(response, 'ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${items.join('')}`);
  }
  const found = [...s3.objects]
    .filter(([key]) => key.startsWith(prefix))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const items = found.map(
    ([key, { body, etag }]) =>
      `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>${etag}</ETag></Contents>`,
  );
  return xml(
    response,
    'ListBucketResult',
    `<KeyCount>${items.length}</KeyCount><IsTruncated>false</IsTruncated>${items.join('')}`,
  );
}

interface ObjectRequest {
  method: string;
  key: string;
  body: Buffer;
  request: IncomingMessage;
}

const metadataOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name.slice('x-amz-meta-'.length), String(value)]),
  );

function ofUpload(
  s3: S3Emulator,
  { method, key, query, body, request }: ObjectRequest & { query: URLSearchParams },
  response: ServerResponse,
): ServerResponse {
  const id = query.get('uploadId') ?? `upload-${s3.requests.length}`;
  if (method === 'POST' && query.has('uploads')) {
    s3.uploads.set(id, {
      key,
      contentType: request.headers['content-type'],
      metadata: metadataOf(request),
      parts: new Map(),
    });
    return xml(response, 'InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${id}</UploadId>`);
  }
  const upload = s3.uploads.get(id);
  if (upload?.key !== key) return refuse(response, 'NoSuchUpload');
  if (method === 'DELETE') {
    s3.uploads.delete(id);
    return response.writeHead(204).end();
  }
  if (method === 'PUT') {
    const etag = etagOf(body);
    upload.parts.set(Number(query.get('partNumber')), { body, etag });
    return response.writeHead(200, { etag }).end();
  }
  if (method === 'POST') {
    const named = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part]) => ({
      number: Number(/<PartNumber>(\d+)/.exec(part!)?.[1]),
      etag: /<ETag>([^<]+)/.exec(part!)?.[1]?.replaceAll('&quot;', '"'),
    }));
    const parts = named.map(({ number, etag }) => {
      const part = upload.parts.get(number);
      return part?.etag === etag ? part : undefined;
    });
    if (parts.length === 0 || parts.some((part) => part === undefined))
      return refuse(response, 'InvalidPart');
    const bodies = parts.map((part) => part!.body);
    if (bodies.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES)) {
      return refuse(response, 'EntityTooSmall');
    }
    const whole = Buffer.concat(bodies);
    const etag = `"${createHash('md5').update(whole).digest('hex')}-${parts.length}"`;
    s3.objects.set(key, { body: whole, etag, contentType: upload.contentType, metadata: upload.metadata });
    s3.uploads.delete(id);
    return xml(response, 'CompleteMultipartUploadResult', `<Key>${key}</Key><ETag>${etag}</ETag>`);
  }
  return refuse(response, 'MethodNotAllowed');
}

function ofObject(
  s3: S3Emulator,
  { method, key, body, request }: ObjectRequest,
  response: ServerResponse,
): ServerResponse {
  const { headers } = request;
  const source = headers['x-amz-copy-source'];
  if (method === 'PUT' && source !== undefined) {
    const [bucket, ...rest] = decodeURIComponent(String(source)).replace(/^\//, '').split('/');
    const from = bucket === s3.bucket ? s3.objects.get(rest.join('/')) : undefined;
    if (!from) return refuse(response, 'NoSuchKey');
    s3.objects.set(key, from);
    return xml(response, 'CopyObjectResult', `<ETag>${from.etag}</ETag>`);
  }
  if (method === 'PUT') {
    const etag = etagOf(body);
    s3.objects.set(key, { body, etag, contentType: headers['content-type'], metadata: metadataOf(request) });
    return response.writeHead(200, { etag }).end();
  }
  if (method === 'DELETE') {
    s3.objects.delete(key);
    return response.writeHead(204).end();
  }
  const found = s3.objects.get(key);
  if (!found) return refuse(response, 'NoSuchKey');
  if (method !== 'GET' && method !== 'HEAD') return refuse(response, 'MethodNotAllowed');
  const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = Math.min(range?.[2] ? Number(range[2]) : found.body.length - 1, found.body.length - 1);
  if (range && start > end) return refuse(response, 'InvalidRange');
  const content = found.body.subarray(start, end + 1);
  return response
    .writeHead(range ? 206 : 200, {
      etag: found.etag,
      'content-length': content.length,
      'accept-ranges': 'bytes',
      ...(found.contentType ? { 'content-type': found.contentType } : {}),
      ...(range ? { 'content-range': `bytes ${start}-${end}/${found.body.length}` } : {}),
    })
    .end(method === 'HEAD' ? undefined : content);
}
