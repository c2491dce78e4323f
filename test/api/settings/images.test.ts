import { form } from '../../support/forms.ts';
import { answered, expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);

const url = '/api/v1/settings/logo';
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const ico = Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.alloc(64)]);
const svg = (inner: string) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`);
const circle = svg('<circle r="4"/>');

const upload = (content: Buffer, more: { client?: TestClient; field?: string; path?: string } = {}) =>
  (more.client ?? admin).request({
    method: 'POST',
    url: more.path ?? url,
    ...form({ name: more.field ?? 'file', filename: 'picture', content }),
  });
const lastEvent = async () =>
  await db('events').where({ event_type: 'settings.updated' }).orderBy('position', 'desc').first();

it('is none at first', async () => {
  await expectProblem(t.anonymous.get(url), 404);
  expect((await admin.get(`${url}/info`)).body).toEqual({ has_custom_logo: false, mime_type: null });
  const cleared = await admin.delete(url);
  expect(cleared.status).toBe(204);
  expect(cleared.headers['x-position']).toBeUndefined();
});

it('is uploaded, shown to anybody, and told of', async () => {
  expect((await upload(png)).body).toEqual({ has_custom_logo: true, mime_type: 'image/png' });
  expect((await lastEvent()).data).toMatchObject({
    id: 'logo',
    changes: { value: { old: null, new: { media_type: 'image/png', size: png.length } } },
  });
  const shown = await t.anonymous.get(url);
  expect(shown.raw).toEqual(png);
  expect(shown.headers).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'inline; filename="logo.png"',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining('sandbox'),
    'cache-control': 'public, no-cache',
  });
  await ok(t.anonymous.get(url, { 'if-none-match': shown.headers.etag! }), 304);
  expect((await answered(upload(png))).headers['x-position']).toBeUndefined();
});

it('is replaced and taken away, and the ones before are kept for a while', async () => {
  await upload(circle);
  expect((await t.anonymous.get(url)).headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'content-disposition': 'attachment; filename="logo.svg"',
  });
  await ok(admin.delete(url), 204);
  await expectProblem(t.anonymous.get(url), 404);
  const files = await db('files').select('expires_at');
  expect(files).toHaveLength(2);
  for (const { expires_at } of files)
    expect(new Date(expires_at).getTime()).toBeGreaterThan(Date.now() + 29 * 86_400_000);
});

it('may be an icon', async () => {
  const path = '/api/v1/settings/favicon';
  expect((await upload(ico, { path })).body).toEqual({ has_custom_favicon: true, mime_type: 'image/x-icon' });
  expect((await t.anonymous.get(path)).raw).toEqual(ico);
});

describe('refuses', () => {
  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['a text', Buffer.from('hello')],
    ['a page', Buffer.from('<html><body>hello</body></html>')],
    ['another format', Buffer.from('%PDF-1.7\n')],
    ['a scripted picture', svg('<script>alert(1)</script>')],
    ['a picture with a handler', svg('<circle r="4" onload="alert(1)"/>')],
    ['a picture with entities', Buffer.from(`<!DOCTYPE svg [<!ENTITY a "b">]>${circle}`)],
  ])('%s', async (_, content) => {
    expect(await upload(content)).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'file', code: 'unsupported_image' }] },
    });
    await expectProblem(t.anonymous.get(url), 404);
  });

  it('what is too large, another field, no form, and others', async () => {
    await expectProblem(upload(Buffer.concat([png, Buffer.alloc(1024 * 1024)])), 413);
    expect(await upload(png, { field: 'logo' })).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'logo' }] },
    });
    await expectProblem(admin.post(url, {}), 415);
    expect(await upload(png, { client: viewer })).toMatchObject({
      status: 403,
      body: { permission: 'admin.settings' },
    });
    await expectProblem(viewer.delete(url), 403);
    await expectProblem(viewer.get(`${url}/info`), 403);
  });
});
