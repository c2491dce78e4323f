import { afterAll, describe, expect, it } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { routesOf } from '../../../api/operation.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);
const app = await createApp(t.services);
afterAll(() => app.close());
for (const permission of ['public', 'inventory.view'] as const) {
  routesOf(app, { tag: 'Health' }).get(`/api/v1/of-a-module/${permission}`, {
    id: `ofAModule${permission}`,
    summary: 'Read nothing',
    permission,
    module: 'grc',
    responses: { 204: { description: 'Nothing' } },
    handler: async ({ reply }) => reply.code(204).send(),
  });
}
await app.ready();

const ask = async (permission: string, token?: string) =>
  await app.inject({
    url: `/api/v1/of-a-module/${permission}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
const turn = (path: string, enabled: boolean) => admin.patch(`/api/v1/settings/${path}`, { enabled });

it('switches the operations of a module off and on, from the next request on', async () => {
  expect((await ask('public')).statusCode).toBe(204);
  expect((await ask('inventory.view', admin.token)).statusCode).toBe(204);
  await turn('grc-enabled', false);
  for (const answer of [await ask('public'), await ask('inventory.view', admin.token)]) {
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ code: 'module_disabled', module: 'grc' });
  }
  expect((await ask('inventory.view')).statusCode).toBe(401);
  await turn('grc-enabled', true);
  expect((await ask('inventory.view', admin.token)).statusCode).toBe(204);
  expect((await ask('inventory.view')).statusCode).toBe(401);
});

it('says in the description which module an operation belongs to, and how it is refused', () => {
  const document = app.swagger() as unknown as { paths: Record<string, Record<string, object>> };
  expect(document.paths['/api/v1/of-a-module/public']!.get).toMatchObject({
    'x-module': 'grc',
    'x-error-codes': ['module_disabled', 'too_many_requests', 'validation_failed'],
  });
});

it('switches uploads off, and leaves what was uploaded', async () => {
  const card = await admin.post('/api/v1/cards', { type: 'Application', name: 'Payroll' });
  const url = `/api/v1/cards/${card.body.id}/file-attachments`;
  const upload = async () => {
    const form = new FormData();
    form.append('file', new Blob(['hello']), 'note.txt');
    const request = new Request('http://estate.example', { method: 'POST', body: form });
    return await admin.request({
      method: 'POST',
      url,
      headers: { 'content-type': request.headers.get('content-type')! },
      payload: Buffer.from(await request.arrayBuffer()),
    });
  };
  const file = (await upload()).body;
  await turn('file-uploads-enabled', false);
  expect(await upload()).toMatchObject({
    status: 403,
    body: { code: 'module_disabled', module: 'file_uploads' },
  });
  expect((await admin.get(`/api/v1/file-attachments/${file.id}/download`)).text).toBe('hello');
  await turn('file-uploads-enabled', true);
  await ok(upload(), 201);
});

describe('business process management', () => {
  it('takes the processes and their relation types with it, and brings them back', async () => {
    const process = await admin.post('/api/v1/cards', { type: 'BusinessProcess', name: 'Order to cash' });
    const keys = async (path: string) =>
      pluck((await admin.get(`/api/v1/metamodel/${path}?page_size=200`)).body.items, 'key');
    const relationTypes = await keys('relation-types');
    expect(await keys('types')).toContain('BusinessProcess');

    expect((await turn('bpm-enabled', false)).body).toEqual({ enabled: false });
    expect(await keys('types')).not.toContain('BusinessProcess');
    expect((await keys('relation-types')).length).toBeLessThan(relationTypes.length);
    await expectProblem(admin.get(`/api/v1/cards/${process.body.id}`), 404);
    const told = await db('events')
      .whereIn('event_type', ['settings.updated', 'card_type.updated'])
      .orderBy('position', 'desc')
      .limit(2);
    expect(told.map(({ data }) => data.changes)).toEqual([
      { is_hidden: { old: false, new: true } },
      { value: { old: true, new: false } },
    ]);

    await turn('bpm-enabled', true);
    expect(await keys('relation-types')).toEqual(relationTypes);
    await ok(admin.get(`/api/v1/cards/${process.body.id}`));
  });
});
