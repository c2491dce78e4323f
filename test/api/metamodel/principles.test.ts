import principlesCatalogue from '../../../domain/governance/catalogues/principles.json' with { type: 'json' };
import { openApp, pluck } from '../../support/harness.ts';

const url = '/api/v1/principles-catalogue';

const { db, admin } = await openApp(['admin']);

it('the catalogue has twenty principles with all texts in two languages', () => {
  const { principles } = principlesCatalogue;
  expect(new Set(principles.map(({ id }) => id)).size).toBe(20);
  for (const language of ['en', 'de'] as const) {
    const texts = principles.map((principle) => principle.texts[language]);
    expect(new Set(texts.map(({ title }) => title)).size).toBe(20);
    for (const text of texts) expect(Object.values(text).every((part) => part.trim().length > 5)).toBe(true);
  }
});

it('principles are taken over once, in the language that is asked for, and can be given back', async () => {
  const first = await admin.get(url, { 'accept-language': 'de-AT, en;q=0.5' });
  expect(first.headers['content-language']).toBe('de');
  expect(first.body.principles).toHaveLength(20);
  expect(first.body.principles[0]).toMatchObject({ id: 'EAP-01', existing_principle_id: null });
  const { body: since } = await admin.get('/api/v1/changes?after=now');
  const catalogue_ids = ['EAP-03', 'EAP-01', 'EAP-03'];
  const done = await admin.post(`${url}/import`, { catalogue_ids }, { 'accept-language': 'de' });
  expect(done.body).toMatchObject({ created: 2, skipped: 0 });
  const again = await Promise.all([
    admin.post(`${url}/import`, { catalogue_ids: ['EAP-01', 'EAP-02'] }),
    admin.post(`${url}/import`, { catalogue_ids: ['EAP-02', 'EAP-01'] }),
  ]);
  expect(again.map(({ body }) => body.created).sort()).toEqual([0, 1]);
  expect(new Set(again.flatMap(({ body }) => body.ids)).size).toBe(2);
  const stored = (await admin.get('/api/v1/metamodel/principles')).body.items;
  expect(pluck(stored, 'catalogue_id')).toEqual(['EAP-03', 'EAP-01', 'EAP-02']);
  expect(stored[0]).toMatchObject(principlesCatalogue.principles.find(({ id }) => id === 'EAP-03')!.texts.de);
  const listed = (await admin.get(url)).body.principles;
  expect(listed[2]).toMatchObject({ id: 'EAP-03', existing_principle_id: done.body.ids[0] });
  expect(pluck(await admin.changes(since.next), 'event_type')).toEqual(Array(3).fill('principle.created'));
  const unknown = await admin.post(`${url}/import`, { catalogue_ids: ['EAP-01', 'EAP-99'] });
  expect([unknown.status, unknown.body.errors[0].field]).toEqual([422, 'catalogue_ids.1']);
  const { batch_id } = await db('events')
    .where({ event_type: 'principle.created' })
    .orderBy('position')
    .first('batch_id');
  await admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false });
  expect((await admin.get('/api/v1/metamodel/principles')).body.total).toBe(1);
});
