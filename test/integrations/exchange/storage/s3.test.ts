import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import pino from 'pino';
import { type S3Options, s3Storage } from '../../../../integrations/exchange/storage/s3.ts';
import type { OutgoingFile, Storage } from '../../../../integrations/exchange/storage/storage.types.ts';
import { createOutbound } from '../../../../platform/outbound.ts';
import { startS3 } from '../../../emulators/s3.ts';
import { closeAfterAll } from '../../../support/harness.ts';

const outbound = createOutbound(['127.0.0.1:*']);
const open: Storage[] = [];
const never = new AbortController().signal;

const s3 = closeAfterAll(await startS3());

afterAll(() => outbound.close());
afterEach(() => {
  for (const storage of open.splice(0)) storage.close();
  s3.fault = () => undefined;
  s3.requests.length = 0;
});

async function storage(more: Partial<S3Options> = {}): Promise<Storage> {
  const made = await s3Storage({
    ...s3.credentials,
    endpoint: s3.endpoint,
    bucket: s3.bucket,
    prefix: 'estate/',
    pathStyle: true,
    outbound,
    ...more,
  });
  open.push(made);
  return made;
}

function file(name: string, content: Buffer): OutgoingFile {
  return {
    name,
    mediaType: 'text/csv',
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    open: async () => Readable.from([content]),
  };
}

const small = file('small (1).csv', Buffer.from('a;b\n1;2\n'));
const content = randomBytes(20 * 1024 * 1024);
const large = file('large.csv', content);

describe('a bucket', () => {
  it('takes, publishes and gives up a file', async () => {
    const store = await storage();
    await store.put(small, never);
    expect(s3.objects.get('estate/small (1).csv')).toMatchObject({
      body: Buffer.from('a;b\n1;2\n'),
      contentType: 'text/csv',
      metadata: { sha256: small.sha256 },
    });
    await store.publish(small, 'latest.csv', never);
    expect(s3.objects.get('estate/latest.csv')?.body.toString()).toBe('a;b\n1;2\n');
    await store.remove(small.name);
    await store.remove(small.name);
    expect([...s3.objects.keys()]).toEqual(['estate/latest.csv']);
  });

  it('takes a large file in parts', async () => {
    await (await storage()).put(large, never);
    expect(s3.requests.filter((request) => /^PUT .* \d$/.test(request))).toHaveLength(3);
    expect(s3.objects.get('estate/large.csv')?.body.equals(content)).toBe(true);
  });

  it('gets over a store that is busy and connections that break in the middle of a part', async () => {
    s3.objects.clear();
    const faults = ['slow-down', 'reset'] as const;
    let n = 0;
    s3.fault = ({ query }) => (query.get('partNumber') === '2' ? faults[n++] : undefined);
    await (await storage()).put(large, never);
    expect(n).toBe(3);
    expect(s3.objects.get('estate/large.csv')?.body.equals(content)).toBe(true);
    expect(s3.uploads.size).toBe(0);
  });

  it('frees what a killed process has left behind of the same file', async () => {
    const upload = { contentType: undefined, metadata: {}, parts: new Map() };
    s3.uploads.set('left', { ...upload, key: 'estate/large.csv' });
    s3.uploads.set('other', { ...upload, key: 'estate/large.csv.2' });
    await (await storage()).put(large, never);
    expect([...s3.uploads.keys()]).toEqual(['other']);
    s3.uploads.clear();
  });

  it('stops at once, and leaves nothing half done', async () => {
    const stop = new AbortController();
    s3.fault = ({ query }) => {
      if (query.get('partNumber') === '1') stop.abort(new Error('stopped'));
      return undefined;
    };
    s3.objects.clear();
    await expect((await storage()).put(large, stop.signal)).rejects.toThrow('stopped');
    expect(s3.objects.size).toBe(0);
  });

  it.each([
    [
      { secretAccessKey: 'wrong' },
      'storage_refused',
      /^The storage responded with 403 \(SignatureDoesNotMatch\): check the secret access key\.$/,
    ],
    [
      { bucket: 'another' },
      'storage_refused',
      /^The storage responded with 404 \(NoSuchBucket\): check the name of the bucket\.$/,
    ],
    [{ accessKeyId: 'another' }, 'storage_refused', /\(InvalidAccessKeyId\): check the access key\.$/],
    [{ region: 'us-east-1' }, 'storage_refused', /\(AuthorizationHeaderMalformed\): check the region\.$/],
    [{ endpoint: 'http://10.0.0.1' }, 'storage_refused', /10\.0\.0\.1/],
    [{ endpoint: 'https://storage.internal' }, 'storage_refused', /not public/],
  ] as [Partial<S3Options>, string, RegExp][])('is refused with %j', async (more, code, message) => {
    await expect((await storage(more)).put(small, never)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('reports a file that cannot be read as such', async () => {
    const store = await storage();
    const lost = new Error('the disk is lost');
    const read = Readable.from(
      (async function* () {
        yield Buffer.from('a');
        throw lost;
      })(),
    );
    await expect(store.put({ ...small, open: async () => read }, never)).rejects.toBe(lost);
    await expect(store.put({ ...small, open: () => Promise.reject(lost) }, never)).rejects.toBe(lost);
  });

  it('is tried again later when it stays away', async () => {
    s3.fault = () => 'slow-down';
    await expect((await storage({ attempts: 2 })).put(small, never)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: 'The storage responded with 503 (SlowDown).',
    });
  });
});

describe('a store that repeats what it was sent', () => {
  const key = 'CANARYACCESSKEY';
  const secret = 'canary/Secret+Access&Key';
  /** As it stands in XML too. */
  const traces = [key, secret, 'canary/Secret', 'Access&amp;Key', encodeURIComponent(secret)];
  const escaped = (text: string) => text.replaceAll('&', '&amp;');
  const error = (code: string, more: string) =>
    `<?xml version="1.0"?><Error><Code>${escaped(code)}</Code><Message>${escaped(more)}</Message>` +
    `<AWSAccessKeyId>${key}</AWSAccessKeyId><StringToSign>${escaped(more)}</StringToSign>` +
    `<SignatureProvided>${escaped(more)}</SignatureProvided></Error>`;

  const bodies: [string, (all: string) => string][] = [
    ['in the message of its error', (all) => error('AccessDenied', all)],
    ['in the code of its error', (all) => error(all, all)],
    ['in a code of letters and digits', () => error(key, key)],
    ['as plain text', (all) => all],
    ['in XML that is not closed', (all) => `<Error><Code>${all}`],
    ['in the name of an element', () => `<Error><${key}>1</${key}></Error>`],
    ['in another element', (all) => `<${key}><Code>${escaped(all)}</Code></${key}>`],
  ];

  it.each(
    bodies.flatMap(([where, body]) =>
      [200, 301, 400, 403, 500].map((status) => [where, status, body] as const),
    ),
  )('%s, with the status %d, shows none of it', async (_, status, body) => {
    const signatures: string[] = [];
    s3.fault = ({ headers }) => {
      const authorization = String(headers.authorization);
      signatures.push(authorization.slice(authorization.indexOf('Signature=') + 'Signature='.length));
      return { status, body: body(`${key} ${secret} ${authorization}`) };
    };
    const store = await storage({ accessKeyId: key, secretAccessKey: secret, attempts: 1 });
    for (const work of [
      () => store.put(small, never),
      () => store.put(large, never),
      () => store.publish(small, 'latest.csv', never),
      () => store.remove(small.name),
    ]) {
      const met = await work().catch((reason: unknown) => reason);
      if (met === undefined) continue;
      const shown =
        inspect(met, { depth: null, showHidden: true }) +
        JSON.stringify(pino.stdSerializers.err(met as Error));
      for (const trace of [...traces, ...signatures]) expect(shown).not.toContain(trace);
      expect(met).toMatchObject({
        code: status === 500 || status === 200 ? 'upstream_failed' : 'storage_refused',
      });
    }
    expect(signatures.length).toBeGreaterThan(3);
  });
});
