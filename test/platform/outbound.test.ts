import { inspect } from 'node:util';
import { clientOf } from '../../platform/outbound.rules.ts';
import { createOutbound, OutboundRefusal, type Resolve } from '../../platform/outbound.ts';
import { closeAfterAll } from '../support/harness.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import refusedAddresses from './outbound.refused.json' with { type: 'json' };

const seen: { path: string; authorization: string | undefined }[] = [];

const server = await serveOnLoopback((request, response) => {
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
const { origin: base } = closeAfterAll(server);

describe('an address', () => {
  const outbound = createOutbound([]);
  afterAll(() => outbound.close());

  it.each(refusedAddresses)('is refused: %s', async (url) => {
    expect(outbound.refusal(url)).toBeTypeOf('string');
    await expect(outbound.request(url)).rejects.toThrow(OutboundRefusal);
  });

  it.each([
    'https://example.com/hook?x=1',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
    'https://[::ffff:93.184.216.34]/',
  ])('is taken: %s', (url) => expect(outbound.refusal(url)).toBeUndefined());
});

describe('an entry', () => {
  it.each([
    ['cmdb.example', 'https://cmdb.example/', 'http://cmdb.example/'],
    ['CMDB.example:8443', 'https://cmdb.example:8443/', 'http://cmdb.example:8443/'],
    ['ollama:11434', 'http://ollama:11434/api'],
    ['ollama:*', 'http://ollama:1/', 'https://ollama/'],
    ['10.0.0.0/8:9000', 'https://10.1.2.3:9000/'],
    ['[fd00::1]:8443', 'https://[fd00::1]:8443/'],
    ['[fd00::/8]:8443', 'https://[fd12::1]:8443/'],
    ['fd00::/8', 'https://[fd12::1]/'],
    ['::1', 'http://[::1]/'],
  ])('%s allows %s %s', async (entry, ...urls) => {
    const outbound = createOutbound([entry]);
    const given = urls.filter((url) => url !== undefined);
    expect(given.map((url) => outbound.refusal(url))).toEqual(given.map(() => undefined));
    await outbound.close();
  });

  it.each([
    ['cmdb.example', 'https://cmdb.example:8443/'],
    ['cmdb.internal:8443', 'https://cmdb.internal/'],
    ['cmdb.internal:8443', 'https://cmdb.internal:8444/'],
    ['cmdb.internal:8443', 'https://sub.cmdb.internal:8443/'],
    ['10.0.0.0/8:9000', 'https://10.1.2.3/'],
    ['127.0.0.0/8', 'https://[::127.0.0.1]/'],
    ['10.0.0.0/8', 'http://cmdb.example/'],
  ])('%s does not allow %s', async (entry, url) => {
    const outbound = createOutbound([entry]);
    expect(outbound.refusal(url)).toBeTypeOf('string');
    await outbound.close();
  });

  it.each([
    'host:0',
    'host:65536',
    'host:http',
    'a b',
    'https://host',
    '10.0.0.0/33',
    '[host]:1',
    'host:1:2',
  ])('that cannot be read is refused: %s', (entry) =>
    expect(() => createOutbound([entry])).toThrow(/no host/),
  );
});

describe('an allowed address', () => {
  const outbound = createOutbound(['127.0.0.1:*', '10.0.0.0/8', 'localhost:*']);
  afterAll(() => outbound.close());

  it('is called, also by http', async () => {
    const answer = await outbound.request(`${base}/plain`);
    expect([answer.status, answer.body.toString()]).toEqual([200, 'here']);
    expect(outbound.refusal('http://10.9.8.7/')).toBeUndefined();
    expect(outbound.refusal('http://11.0.0.1/')).toBe('must begin with https://');
  });

  it('is called by its name', async () =>
    expect((await outbound.request(base.replace('127.0.0.1', 'localhost'))).status).toBe(200));

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

  it('is not called with a header that cannot be sent, whose value is not shown', async () => {
    const logged: object[] = [];
    const noting = createOutbound(['127.0.0.1:*'], { log: { info: (details) => void logged.push(details) } });
    const calls = seen.length;
    for (const value of ['geheim\r\nx-other: 1', 'geheim\n4711', 'geheim\u20ac', 'geheim\0'])
      for (const call of [
        () => noting.request(`${base}/plain`, { headers: { authorization: value } }),
        () => noting.fetch(`${base}/plain`, { headers: { authorization: value } }),
      ]) {
        const error: unknown = await call().catch((thrown) => thrown);
        expect(error).toBeInstanceOf(TypeError);
        expect(inspect(error)).not.toContain('geheim');
      }
    expect(seen).toHaveLength(calls);
    expect(logged).toHaveLength(8);
    expect(inspect(logged)).not.toContain('geheim');
    // other failures keep their details
    await expect(noting.request('http://127.0.0.1:9/')).rejects.toThrow('fetch failed');
    expect(logged.at(-1)).toMatchObject({ address: 'http://127.0.0.1:9' });
    await noting.close();
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
      const outbound = createOutbound([], { resolve: resolvesTo(...addresses.filter(Boolean)) });
      await expect(outbound.request('https://rebound.example.com/')).rejects.toThrow(OutboundRefusal);
      await outbound.close();
    },
  );

  it('that is allowed, or resolves into an allowed range, is called', async () => {
    const port = new URL(base).port;
    for (const allow of [[`inside.example.com:${port}`], ['inside.example.com:*', '127.0.0.0/8']]) {
      const outbound = createOutbound(allow, { resolve: resolvesTo('127.0.0.1') });
      expect((await outbound.request(`http://inside.example.com:${port}/`)).status).toBe(200);
      await outbound.close();
    }
  });

  it('is connected to on a port other than 443 where a range names the port of all its addresses', async () => {
    const { port } = new URL(base);
    const url = `https://inside.example.com:${port}/`;
    const refused = async (allow: string[], ...addresses: string[]) => {
      const outbound = createOutbound(allow, { resolve: resolvesTo(...addresses) });
      const error: unknown = await outbound.request(url).catch((thrown) => thrown);
      await outbound.close();
      return error instanceof OutboundRefusal;
    };
    // the server speaks no TLS, which is found out after the guard has let the connection through
    expect(await refused([`127.0.0.0/8:${port}`], '127.0.0.1')).toBe(false);
    expect(await refused([`127.0.0.0/8:${port}`], '127.0.0.1', '93.184.216.34')).toBe(true);
    expect(await refused(['127.0.0.0/8'], '127.0.0.1')).toBe(true);
    expect(await refused(['127.0.0.0/8:1'], '127.0.0.1')).toBe(true);
  });

  it('that resolves differently at the next call is refused then, redirects included', async () => {
    const { port } = new URL(base);
    const answers = ['127.0.0.1', '127.0.0.2'];
    const outbound = createOutbound([`127.0.0.1:${port}`], {
      resolve: (_host, _options, done) => done(null, [{ address: answers.shift()!, family: 4 }]),
    });
    const url = `https://rebound.example.com:${port}/`;
    await expect(outbound.request(url)).rejects.not.toThrow(OutboundRefusal);
    await expect(outbound.request(url)).rejects.toThrow(OutboundRefusal);
    await outbound.close();
  });
});

it('a client counts by its IPv4 address or the network of its IPv6 address', () => {
  expect(clientOf('203.0.113.7')).toBe('203.0.113.7');
  expect(clientOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
  expect(clientOf('::ffff:cb00:7107')).toBe('203.0.113.7');
  expect(clientOf('2001:DB8:0:1:a:b:c:d')).toBe('2001:db8:0:1::/64');
  expect(clientOf('2001:db8:0:1::2')).toBe('2001:db8:0:1::/64');
  expect(clientOf('2001:0db8::1')).toBe('2001:db8:0:0::/64');
  expect(clientOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(clientOf('::1')).toBe('0:0:0:0::/64');
});
