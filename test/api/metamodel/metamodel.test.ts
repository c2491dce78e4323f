import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, viewer } = await openApp(['viewer']);

it('lists the 13 card types in order, with roles, and cut to fields', async () => {
  const all = await ok(viewer.get('/api/v1/metamodel/types'));
  expect(all.total).toBe(13);
  expect(all.items[0].key).toBe('Objective');
  const application = all.items.find((type: { key: string }) => type.key === 'Application');
  expect(pluck(application.stakeholder_roles, 'key')).toEqual([
    'responsible',
    'observer',
    'technical_application_owner',
    'business_application_owner',
  ]);
  const keys = await viewer.get('/api/v1/metamodel/types?fields=key&page_size=2&sort_by=key');
  expect(keys.body.items).toEqual([{ key: 'Application' }, { key: 'BusinessCapability' }]);
});

it('lists the 45 relation types, and those of one card type', async () => {
  expect((await viewer.get('/api/v1/metamodel/relation-types?page_size=200')).body.total).toBe(45);
  const some = await viewer.get('/api/v1/metamodel/relation-types?type_key=Provider');
  const keys = pluck(some.body.items, 'key');
  expect(keys).toEqual(['relProviderToInitiative', 'relProviderToApp', 'relProviderToITC']);
});

it('walks a list by cursor and refuses a cursor of another order', async () => {
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await ok(viewer.get(`/api/v1/metamodel/types?page_size=5&fields=key&cursor=${cursor}`));
    seen.push(...pluck(page.items, 'key'));
    if (cursor === '')
      await expectProblem(
        viewer.get(`/api/v1/metamodel/types?sort_dir=desc&cursor=${page.next_cursor}`),
        422,
        'cursor_mismatch',
        'cursor',
      );
    cursor = page.next_cursor;
  }
  expect(new Set(seen).size).toBe(13);
  expect(seen).toHaveLength(13);
});

it('answers 304 to a known ETag, 404 to an unknown key, 422 to bad parameters, 401 without a token', async () => {
  const again = await viewer.get('/api/v1/metamodel/types/Application', {
    'if-none-match': (await viewer.get('/api/v1/metamodel/types/Application')).headers.etag!,
  });
  expect([again.status, again.text]).toEqual([304, '']);
  const bad = await viewer.get('/api/v1/metamodel/types?page_size=201&sortby=key');
  expect(bad.status).toBe(422);
  expect(pluck(bad.body.errors, 'field').sort()).toEqual(['page_size', 'sortby']);
  const none = await t.anonymous.get('/api/v1/metamodel/types');
  expect([none.status, none.headers['www-authenticate']]).toEqual([401, 'Bearer realm="estate"']);
  const method = await viewer.delete('/api/v1/metamodel/types');
  expect([method.status, method.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
});
