import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutbound, OutboundRefusal, type Resolve } from '../../platform/outbound.ts';

let server: Server;
let base: string;
const seen: { path: string; authorization: string | undefined }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push({ path: request.url!, authorization: request.headers.authorization });
    if (request.url === '/hang') return;
    if (request.url === '/inward') {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    } else if (request.url === '/onward') {
      response.writeHead(307, { location: '/end' }).end();
    } else if (request.url === '/round') {
      response.writeHead(302, { location: '/round' }).end();
    } else if (request.url === '/long') {
      response.end('x'.repeat(5_000));
    } else {
      response.end('here');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('an address', () => {
  const outbound = createOutbound([]);
  afterAll(() => outbound.close());

  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'https://user:secret@example.com/',
    'not an address',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://0/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://intranet/',
  ])('is refused: %s', async (url) => {
    expect(outbound.refusal(url)).toBeTypeOf('string');
    await expect(outbound.request(url)).rejects.toThrow(OutboundRefusal);
  });

  it.each(['https://example.com/hook?x=1', 'https://93.184.216.34/', 'https://[2606:2800:220:1::1]:8443/'])(
    'is taken: %s',
    (url) => expect(outbound.refusal(url)).toBeUndefined(),
  );
});

describe('an allowed address', () => {
  const outbound = createOutbound(['127.0.0.1', '10.0.0.0/8', 'localhost']);
  afterAll(() => outbound.close());

  it('is called, also by http', async () => {
    const answer = await outbound.request(`${base}/plain`);
    expect([answer.status, answer.body.toString()]).toEqual([200, 'here']);
    expect(outbound.refusal('http://10.9.8.7/')).toBeUndefined();
    expect(outbound.refusal('http://11.0.0.1/')).toBe('must begin with https://');
  });

  it('is called by its name', async () => {
    const answer = await outbound.request(base.replace('127.0.0.1', 'localhost'));
    expect(answer.status).toBe(200);
  });

  it('does not lead on to one that is not', async () => {
    expect((await outbound.request(`${base}/inward`)).status).toBe(302);
    await expect(outbound.request(`${base}/inward`, { redirects: 3 })).rejects.toThrow(OutboundRefusal);
  });

  it('is left after as many redirects as wanted, and credentials stay with their host', async () => {
    const headers = { authorization: 'Bearer secret' };
    const answer = await outbound.request(`${base}/onward`, { redirects: 1, headers });
    expect(answer.body.toString()).toBe('here');
    expect(seen.at(-1)).toEqual({ path: '/end', authorization: 'Bearer secret' });
    expect((await outbound.request(`${base}/round`, { redirects: 3 })).status).toBe(302);
  });

  it('that hangs or never ends is left', async () => {
    await expect(outbound.request(`${base}/hang`, { timeoutMs: 200 })).rejects.toThrow(/timeout|aborted/i);
    await expect(outbound.request(`${base}/long`, { maxBytes: 1_000 })).rejects.toThrow(/longer/);
  });
});

describe('a name', () => {
  const resolvesTo =
    (...addresses: string[]): Resolve =>
    (_host, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );

  it.each([['10.0.0.1'], ['127.0.0.1'], ['93.184.216.34', '192.168.0.1'], ['::1'], ['::ffff:10.0.0.1']])(
    'that resolves to %s %s is not called',
    async (...addresses) => {
      const outbound = createOutbound([], resolvesTo(...addresses.filter(Boolean)));
      await expect(outbound.request('https://rebound.example.com/')).rejects.toThrow(OutboundRefusal);
      await outbound.close();
    },
  );

  it('that is allowed, or resolves into an allowed range, is called', async () => {
    const port = new URL(base).port;
    for (const allow of [['inside.example.com'], ['inside.example.com', '127.0.0.0/8']]) {
      const outbound = createOutbound(allow, resolvesTo('127.0.0.1'));
      expect((await outbound.request(`http://inside.example.com:${port}/`)).status).toBe(200);
      await outbound.close();
    }
  });
});
