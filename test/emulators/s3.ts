import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { serveOnLoopback } from '../support/loopback.ts';
import type { Response } from './http.ts';
import { type Credentials, signatureFault } from './s3.signature.ts';

/*
 * The documented subset of S3 that extractions use, with the bucket in the path: PutObject, CopyObject, DeleteObject,
 * CreateMultipartUpload, UploadPart, CompleteMultipartUpload, AbortMultipartUpload, ListMultipartUploads. The signature of
 * every request is verified.
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

/** What happens to a request instead of being executed. */
type Fault = 'slow-down' | 'reset' | { status: number; body: string } | undefined;

type S3Request = { method: string; key: string; query: URLSearchParams; headers: IncomingHttpHeaders };

export interface S3Emulator {
  endpoint: string;
  credentials: Credentials;
  bucket: string;
  /** By key. */
  objects: Map<string, StoredObject>;
  uploads: Map<string, Upload>;
  /** `PUT key` and the like, in order, those with faults included. */
  requests: string[];
  /** Called with each request before it is executed. */
  fault: (request: S3Request) => Fault | Promise<Fault>;
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

const statuses: Record<string, number> = {
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  EntityTooSmall: 400,
  InvalidPart: 400,
  MethodNotAllowed: 405,
  SlowDown: 503,
};

const xml = (root: string, content: string, status = 200): Response => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0"?><${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`,
});
const refuse = (code: string): Response =>
  xml('Error', `<Code>${code}</Code><Message>${code}</Message>`, statuses[code] ?? 403);

async function serve(s3: S3Emulator, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { headers, method = '' } = incoming;
  const { pathname, searchParams: query } = new URL(incoming.url!, s3.endpoint);
  const [bucket = '', ...rest] = decodeURIComponent(pathname.slice(1)).split('/');
  const request: S3Request = { method, key: rest.join('/'), query, headers };
  s3.requests.push([method, request.key, query.get('partNumber')].filter(Boolean).join(' '));
  const fault = await s3.fault(request);
  if (fault === 'reset') {
    // in the middle of what is sent
    incoming.once('data', () => incoming.destroy());
    if (headers['content-length'] === undefined) incoming.destroy();
    return;
  }
  const body = await buffer(incoming);
  const answer = (): Response => {
    if (fault === 'slow-down') return refuse('SlowDown');
    if (fault) return { ...fault, headers: { 'content-type': 'application/xml' } };
    const unsigned = signatureFault(incoming, body, s3.credentials);
    if (unsigned !== undefined) return refuse(unsigned);
    if (bucket !== s3.bucket) return refuse('NoSuchBucket');
    if (request.key === '') return listUploads(s3, request);
    const isUpload = query.has('uploads') || query.has('uploadId');
    return isUpload ? onUpload(s3, request, body) : onObject(s3, request, body);
  };
  const { status, headers: own = {}, body: sent } = answer();
  response.writeHead(status, own).end(sent);
}

function listUploads({ uploads }: S3Emulator, { method, query }: S3Request): Response {
  if (method !== 'GET' || !query.has('uploads')) return refuse('MethodNotAllowed');
  const items = [...uploads]
    .filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
    .map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
  return xml('ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${items.join('')}`);
}

/** What a request says of the object that it makes. */
const describe = (headers: IncomingHttpHeaders): Pick<StoredObject, 'contentType' | 'metadata'> => ({
  contentType: headers['content-type'],
  metadata: Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name.slice('x-amz-meta-'.length), String(value)]),
  ),
});

function onUpload(s3: S3Emulator, { method, key, query, headers }: S3Request, body: Buffer): Response {
  const id = query.get('uploadId') ?? `upload-${s3.requests.length}`;
  if (method === 'POST' && query.has('uploads')) {
    s3.uploads.set(id, { key, ...describe(headers), parts: new Map() });
    return xml('InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${id}</UploadId>`);
  }
  const upload = s3.uploads.get(id);
  if (upload?.key !== key) return refuse('NoSuchUpload');
  if (method === 'DELETE') {
    s3.uploads.delete(id);
    return { status: 204 };
  }
  if (method === 'PUT') {
    const etag = etagOf(body);
    upload.parts.set(Number(query.get('partNumber')), { body, etag });
    return { status: 200, headers: { etag } };
  }
  if (method !== 'POST') return refuse('MethodNotAllowed');
  const parts = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)].flatMap(([, part = '']) => {
    const stored = upload.parts.get(Number(/<PartNumber>(\d+)/.exec(part)?.[1]));
    const etag = /<ETag>([^<]+)/.exec(part)?.[1]?.replaceAll('&quot;', '"');
    return [stored?.etag === etag ? stored?.body : undefined];
  });
  const bodies = parts.filter((part) => part !== undefined);
  if (bodies.length === 0 || bodies.length < parts.length) return refuse('InvalidPart');
  if (bodies.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES)) return refuse('EntityTooSmall');
  const whole = Buffer.concat(bodies);
  const { contentType, metadata } = upload;
  const etag = etagOf(whole).replace(/"$/, `-${parts.length}"`);
  s3.objects.set(key, { body: whole, etag, contentType, metadata });
  s3.uploads.delete(id);
  return xml('CompleteMultipartUploadResult', `<Key>${key}</Key><ETag>${etag}</ETag>`);
}

function onObject(s3: S3Emulator, { method, key, headers }: S3Request, body: Buffer): Response {
  const source = headers['x-amz-copy-source'];
  if (method === 'PUT' && source !== undefined) {
    const [bucket, ...rest] = decodeURIComponent(String(source)).replace(/^\//, '').split('/');
    const from = bucket === s3.bucket ? s3.objects.get(rest.join('/')) : undefined;
    if (!from) return refuse('NoSuchKey');
    s3.objects.set(key, from);
    return xml('CopyObjectResult', `<ETag>${from.etag}</ETag>`);
  }
  if (method === 'PUT') {
    const etag = etagOf(body);
    s3.objects.set(key, { body, etag, ...describe(headers) });
    return { status: 200, headers: { etag } };
  }
  if (method !== 'DELETE') return refuse('MethodNotAllowed');
  s3.objects.delete(key);
  return { status: 204 };
}
