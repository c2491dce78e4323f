import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { sha256 } from '../../../../platform/crypto.ts';
import { archiveRows, changeRows, preview } from '../../../support/archive-rows.ts';
import {
  applyArchive,
  exportArchive,
  manifestOf,
  only,
  openTwoServices,
  type Parts,
  unpack,
} from '../../../support/archives.ts';
import type { TestClient } from '../../../support/harness.ts';

/* Files and pictures of an archive are looked at as those that are uploaded. */

const svg = (inner: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inner}</svg>`;
const script = Buffer.from(svg('<script>x()</script>'));

const { source, target } = await openTwoServices();
const admin = await source.as('admin');
const { body: card } = await admin.post('/api/v1/cards', { type: 'Application', name: 'Ledger' });
const files = `/api/v1/cards/${card.id}/file-attachments`;
await send(admin, files, 'notes.txt', 'Read me');
await send(admin, files, 'plan.svg', svg('<circle r="4"/>'));
await send(admin, '/api/v1/settings/logo', 'logo.svg', svg('<circle r="5"/>'));
const ico = Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.alloc(64)]);
await send(admin, '/api/v1/settings/favicon', 'favicon.ico', ico);
const parts = only(
  await unpack(await exportArchive(source.services, await source.ctx())),
  /^(?:users|settings|cards|files|file_attachments)$/,
);

async function send(client: TestClient, url: string, name: string, content: string | Buffer): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(Buffer.from(content))]), name);
  const request = new Request('http://estate.example', { method: 'POST', body: form });
  const headers = { 'content-type': request.headers.get('content-type')! };
  const payload = Buffer.from(await request.arrayBuffer());
  const answer = await client.request({ method: 'POST', url, headers, payload });
  expect(answer.status, answer.text).toBeLessThan(300);
}

/** The archive with another content of the file, and of everything that describes it. */
function withContent(name: string, content: Buffer): Parts {
  const { id } = archiveRows(parts, 'files').find((row) => row.name === name)!;
  const facts = { size: content.length, sha256: sha256(content) };
  let changed = changeRows(parts, 'files', (row) => (row.id === id ? facts : {}));
  changed = changeRows(changed, 'file_attachments', (row) =>
    row.file_id === id ? { size: content.length } : {},
  );
  changed = changeRows(changed, 'settings', ({ value }) =>
    value?.file_id === id ? { value: { ...value, ...facts } } : {},
  );
  const manifest = manifestOf(changed);
  const part = manifest.files.find((file) => file.name === `blobs/${id}`)!;
  Object.assign(part, { bytes: content.length, sha256: facts.sha256 });
  return new Map([
    ...changed,
    [part.name, content],
    ['manifest.json', Buffer.from(JSON.stringify(manifest))],
  ]);
}

const picture = (values: object) =>
  changeRows(parts, 'settings', ({ key, value }) =>
    key === 'logo' ? { value: { ...value, ...values } } : {},
  );

const cases: [string, () => Parts, string][] = [
  ['a drawing that runs something', () => withContent('plan.svg', script), 'files unsupported_file'],
  ['a logo that runs something', () => withContent('logo.svg', script), 'files unsupported_file'],
  [
    'a type that is none of the content',
    () => changeRows(parts, 'files', () => ({ media_type: 'text/html' })),
    'files content_mismatch',
  ],
  [
    'a name that says something else',
    () => changeRows(parts, 'files', ({ name }) => (name === 'notes.txt' ? { name: 'notes.pdf' } : {})),
    'files content_mismatch',
  ],
  [
    'an attached file of another type',
    () => changeRows(parts, 'file_attachments', () => ({ mime_type: 'text/html' })),
    'file_attachments content_mismatch',
  ],
  ['a logo that is no picture', () => picture({ media_type: 'text/html' }), 'settings wrong_type'],
  [
    'a logo whose fingerprint is none',
    () => picture({ sha256: 'x"\r\nset-cookie: a=b' }),
    'settings wrong_type',
  ],
  ['a logo that is another file', () => picture({ sha256: '0'.repeat(64) }), 'settings content_mismatch'],
  ['a logo that is nowhere', () => picture({ file_id: randomUUID() }), 'settings content_mismatch'],
];
it.each(cases)('names %s', async (_name, archive, expected) => {
  const { status, diff } = await preview(target, archive());
  expect(status).toBe('previewed');
  expect(diff!.conflicts.map(({ kind, code }) => `${kind} ${code}`)).toContain(expected);
});

it('brings files that are what they say, and the pictures of the workspace', async () => {
  const ctx = await target.ctx();
  const { id, diff } = await preview(target, parts);
  expect(diff!.conflicts).toEqual([]);
  expect((await applyArchive(ctx, id)).result!.left).toEqual([]);
  expect((await target.anonymous.get('/api/v1/settings/logo')).text).toBe(svg('<circle r="5"/>'));
  expect((await target.anonymous.get('/api/v1/settings/favicon')).status).toBe(200);
  expect(await target.services.db('file_attachments').orderBy('name').pluck('mime_type')).toEqual([
    'text/plain; charset=utf-8',
    'image/svg+xml',
  ]);
});
