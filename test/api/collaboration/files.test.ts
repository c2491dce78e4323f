import { createHash } from 'node:crypto';
import { cleanUp } from '../../../domain/app/housekeeping.ts';
import { archive, officeMembers, pdf, png, svg } from '../../domain/collaboration/samples.ts';
import { form, type Part } from '../../support/forms.ts';
import { expectProblem, ok, openApp, type TestClient, type TestResponse } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['member', 'viewer', 'admin']);
const { appoint, eventsOf, expectRefused, refused, expectInvalid } = writesOf(t);
const app: { id: string; name: string } = await member.card();

const of = (id: string) => card(id, '/file-attachments');
const one = (id: string, rest = '') => `/api/v1/file-attachments/${id}${rest}`;
const MIB = 1024 * 1024;

const send = (
  parts: Part[],
  { client = member, on = app.id, headers = {} }: { client?: TestClient; on?: string; headers?: object } = {},
): Promise<TestResponse> => {
  const body = form(...parts);
  return client.request({
    method: 'POST',
    url: of(on),
    payload: body.payload,
    headers: { ...body.headers, ...headers },
  });
};
const file = (filename: string, content: Buffer | string): Part => ({ name: 'file', filename, content });
const upload = (filename: string, content: Buffer | string, more: Parameters<typeof send>[1] = {}) =>
  send([file(filename, content)], more);
const stored = async () => (await db('files').count('* as n').first())!.n;

it.each([
  // RFC 7578, 4.2 and RFC 6266, 4.1: a quotation mark is escaped by a backslash, or sent as %22; browsers do the latter
  ['a\\"b.txt', 'ab.txt'],
  ['a%22b.txt', 'a%22b.txt'],
  // what follows the closing quotation mark is not part of the name
  ['a"b.txt', 'a.txt'],
])('with the name "%s" in the form are called %s', async (sent, name) => {
  const { status, body } = await upload(sent, 'A text.');
  expect([status, body.name]).toEqual([201, name]);
  await ok(member.delete(one(body.id)), 204);
});

it('have a category that can be changed, also back by a rollback', async () => {
  const { body } = await upload('plan.txt', 'A plan.');
  const { answer, events } = await eventsOf(() => member.patch(one(body.id), { category: 'architecture' }));
  expect(answer.body).toEqual({ ...body, category: 'architecture' });
  expect(events).toMatchObject([
    {
      event_type: 'file.updated',
      card_id: app.id,
      data: { changes: { category: { old: null, new: 'architecture' } } },
    },
  ]);
  await expectInvalid(() => member.patch(one(body.id), { category: 'nothing' }), 'category');
  await expectRefused(() => viewer.patch(one(body.id), { category: null }), 403);
  const batch = answer.headers['x-mutation-batch'];
  await ok(admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false }));
  expect((await ok(member.get(`${of(app.id)}?search=plan`))).items).toEqual([body]);
  await ok(member.delete(one(body.id)), 204);
});

it('are attached, listed, downloaded and deleted, with one event each', async () => {
  const { answer, events } = await eventsOf(() =>
    send([{ name: 'category', content: 'architecture' }, file('Übersicht 1.pdf', pdf)]),
  );
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body;
  expect(answer.body).toEqual({
    id,
    card_id: app.id,
    name: 'Übersicht 1.pdf',
    mime_type: 'application/pdf',
    size: pdf.length,
    category: 'architecture',
    created_by: member.userId,
    created_by_name: 'member',
    created_at: expect.any(String),
  });
  expect(events).toMatchObject([
    {
      event_type: 'file.uploaded',
      card_id: app.id,
      data: {
        id,
        name: 'Übersicht 1.pdf',
        size: pdf.length,
        changes: { file_id: { old: null, new: expect.any(String) } },
      },
    },
  ]);
  const list = await ok(viewer.get(of(app.id)));
  expect(list).toEqual({ items: [answer.body], total: 1, page: 1, page_size: 50 });
  expect((await ok(viewer.get(`${of(app.id)}?search=%C3%BCBER&sort_by=size&fields=name`))).items).toEqual([
    { name: 'Übersicht 1.pdf' },
  ]);

  const whole = await viewer.get(one(id, '/download'));
  expect(whole.raw.equals(pdf)).toBe(true);
  const digest = createHash('sha256').update(pdf).digest();
  expect(whole.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': String(pdf.length),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    etag: `"${digest.toString('hex')}"`,
    'repr-digest': `sha-256=:${digest.toString('base64')}:`,
  });
  expect(whole.headers['content-disposition']).toMatch(/^attachment; filename=/);
  const part = await viewer.get(one(id, '/download'), { range: 'bytes=1-4' });
  expect([part.status, part.text, part.headers['content-range']]).toEqual([
    206,
    'PDF-',
    `bytes 1-4/${pdf.length}`,
  ]);
  await expectProblem(viewer.get(one(id, '/download'), { range: 'bytes=9999-' }), 416);
  await ok(viewer.get(one(id, '/download'), { 'if-none-match': whole.headers.etag! }), 304);

  const gone = await eventsOf(() => member.delete(one(id)));
  expect([gone.answer.status, gone.events.map((event) => event.event_type)]).toEqual([204, ['file.deleted']]);
  expect((await ok(viewer.get(of(app.id)))).total).toBe(0);
  await expectProblem(viewer.get(one(id, '/download')), 404);
  await expectRefused(() => member.delete(one(id)), 404);
});

it('keep their content for a while after they were deleted, and lose it then', async () => {
  const { body } = await upload('a.txt', 'kept');
  const { file_id } = await db('file_attachments').where({ id: body.id }).first();
  await ok(member.delete(one(body.id)), 204);
  const left = await db('files').where({ id: file_id }).first();
  const days = (left.expires_at.getTime() - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(29);
  expect(days).toBeLessThan(31);
  await db('files').where({ id: file_id }).update('expires_at', new Date(0));
  await cleanUp(db, t.services.blobs, new AbortController().signal);
  expect(await db('files').where({ id: file_id })).toEqual([]);
  await expect(t.services.blobs.get(file_id)).rejects.toThrow();
});

it('are what their content says, whatever they are called', async () => {
  const before = await stored();
  for (const [name, content] of [
    ['a.pdf', 'no pdf at all'],
    ['a.docx', pdf],
    ['a.xlsx', archive(officeMembers('docx'))],
    ['a.svg', svg('<script>1</script>')],
    ['a.zip', archive([{ name: 'a', content: 'a' }])],
    ['a.html', '<html><script>1</script></html>'],
    ['a.txt', Buffer.from([0xff, 0xfe, 0x00])],
    ['empty.txt', ''],
  ] as const)
    expect(await refused(() => upload(name, content)), name).toMatchObject({ status: 422, fields: ['file'] });
  expect(await stored()).toBe(before);
  for (const [name, content] of [
    ['a.png', png],
    ['a.svg', svg()],
    ['a.docx', archive(officeMembers('docx'))],
    ['a', 'a text'],
  ] as const)
    expect((await upload(name, content)).status, name).toBe(201);
});

it('have at most 10 MiB', async () => {
  await ok(upload('a.txt', Buffer.alloc(10 * MIB, 0x61)), 201);
  for (const size of [10 * MIB + 1, 11 * MIB])
    await expectRefused(() => upload('a.txt', Buffer.alloc(size, 0x61)), 413, 'payload_too_large');
});

it('come alone in a form, with a category that is enabled', async () => {
  const text = file('a.txt', 'a');
  for (const [parts, field] of [
    [[], 'file'],
    [[text, text], 'file'],
    [[{ ...text, name: 'other' }], 'other'],
    [[text, { name: 'category', content: 'nope' }], 'category'],
    // a type of links is no category of files
    [[text, { name: 'category', content: 'contract' }], 'category'],
    [[text, { name: 'more', content: 'x' }], 'more'],
  ] as [Part[], string][]) {
    await expectInvalid(() => send(parts), field);
  }
  await expectRefused(() => member.post(of(app.id), { file: 'a' }), 415);
  const whole = form(file('a.txt', 'a text that is cut off in the middle'));
  const middle = whole.payload.indexOf('cut off');
  const raw = (payload: Buffer, type = whole.headers['content-type']) =>
    refused(() =>
      member.request({ method: 'POST', url: of(app.id), payload, headers: { 'content-type': type } }),
    );
  for (const end of [0, 1, 10, 50, middle - 20, middle, middle + 20])
    expect([400, 422], String(end)).toContain((await raw(whole.payload.subarray(0, end))).status);
  expect([400, 422]).toContain((await raw(whole.payload, 'multipart/form-data; boundary=other')).status);
  expect([400, 415]).toContain((await raw(whole.payload, 'multipart/form-data')).status);
  const long = `multipart/form-data; boundary=${'b'.repeat(300)}`;
  expect([400, 422]).toContain((await raw(whole.payload, long)).status);
  expect([400, 422]).toContain((await raw(Buffer.from('\r\n--boundary-of-the-test\r\n\0\r\n'))).status);
});

it('sent again under a key are attached once', async () => {
  const own = await member.card();
  const headers = { 'idempotency-key': 'upload-1' };
  const first = await upload('a.txt', 'same', { on: own.id, headers });
  const again = await upload('a.txt', 'same', { on: own.id, headers });
  expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, first.text, 'true']);
  await expectRefused(() => upload('a.txt', 'other', { on: own.id, headers }), 409, 'idempotency_key_reused');
  expect((await ok(viewer.get(of(own.id)))).total).toBe(1);
});

it('are refused while uploads are switched off, and can still be read and deleted', async () => {
  const { body } = await upload('a.txt', 'before');
  await ok(admin.patch('/api/v1/settings/file-uploads-enabled', { enabled: false }));
  await expectRefused(() => upload('a.txt', 'after'), 403, 'module_disabled');
  expect((await viewer.get(one(body.id, '/download'))).text).toBe('before');
  await ok(member.delete(one(body.id)), 204);
  await ok(admin.patch('/api/v1/settings/file-uploads-enabled', { enabled: true }));
});

it('are for those who may see and manage them', async () => {
  const { body } = await upload('Hush.txt', 'hush');
  await expectRefused(() => upload('a.txt', 'a', { client: viewer }), 403, 'documents.manage');
  await expectRefused(() => viewer.delete(one(body.id)), 403, 'documents.manage');
  const reader = await t.holding('inventory.view');
  for (const url of [of(app.id), one(body.id, '/download')])
    await expectRefused(() => reader.get(url), 403, 'documents.view');
  const blind = await t.holding('documents.view');
  for (const url of [of(app.id), one(body.id, '/download')])
    await expectRefused(() => blind.get(url), 403, 'inventory.view');
  await expectRefused(() => upload('a.txt', 'a', { on: NOBODY }), 404);
  const own = await member.card();
  await appoint(own.id, viewer, 'responsible');
  await ok(upload('a.txt', 'a', { client: viewer, on: own.id }), 201);
  const shown = async (client: TestClient) =>
    (await Promise.all([client.get('/api/v1/changes'), client.get(card(app.id, '/history'))])).map(
      ({ text }) => text.includes('Hush'),
    );
  expect(await shown(reader)).toEqual([false, false]);
  expect(await shown(viewer)).toEqual([true, true]);
});
