import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { openApp } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);
for (let n = 0; n < 30; n += 1) await admin.card({ attributes: { costTotalAnnual: n } });

const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

/** The headers of a response, and its decoded body. */
async function fetchAs(encoding: string, url: string, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${admin.token}`, 'accept-encoding': encoding, ...more };
  const response = await t.app.inject({ url, headers });
  const coding = String(response.headers['content-encoding'] ?? '');
  return {
    status: response.statusCode,
    headers: response.headers,
    coding,
    bytes: response.rawPayload.length,
    text: (decoders[coding] ?? ((bytes: Buffer) => bytes))(response.rawPayload).toString(),
  };
}

it.each([
  ['a list', '/api/v1/cards', {}],
  ['a report', '/api/v1/reports/cost', {}],
  ['a report as CSV', '/api/v1/reports/cost', { accept: 'text/csv' }],
  ['a stream', '/api/v1/reports/app-portfolio', {}],
  ['OData', '/odata/v4/Application', {}],
  ['the API description', '/api/openapi.json', {}],
])('%s is compressed as the client accepts it', async (_what, url, headers) => {
  const plain = await fetchAs('identity', url, headers);
  expect(plain).toMatchObject({ status: 200, coding: '' });
  for (const [accepted, coding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['deflate', ''],
  ]) {
    // the second time from the cache
    for (const _ of [1, 2]) {
      const answer = await fetchAs(accepted!, url, headers);
      expect(answer).toMatchObject({ status: 200, coding, text: plain.text });
      expect(answer.headers.etag).toBe(plain.headers.etag);
      if (coding === '') continue;
      expect(answer.headers.vary).toMatch(/accept-encoding/i);
      expect(answer.bytes).toBeLessThan(plain.bytes);
    }
  }
});

it('responses that are small or contain secrets are not compressed', async () => {
  expect(await fetchAs('br', '/api/v1/settings/app-title')).toMatchObject({ status: 200, coding: '' });
  const payload = { email: admin.email, password: 'wrong-password-of-length' };
  const { headers } = await t.app.inject({
    method: 'POST',
    url: '/api/v1/auth/login',
    headers: { 'accept-encoding': 'br' },
    payload,
  });
  expect(headers['content-encoding']).toBeUndefined();
});

it('a compressed response is confirmed by its ETag', async () => {
  for (const url of ['/api/v1/reports/cost', '/api/v1/cards']) {
    const { headers } = await fetchAs('br', url);
    const again = await fetchAs('br', url, { 'if-none-match': String(headers.etag) });
    expect(again).toMatchObject({ status: 304, bytes: 0 });
  }
});
