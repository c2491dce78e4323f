import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { NOBODY, writesOf } from '../../support/writes.ts';
import { eventsBy } from './metamodel.fixture.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
const { expectRefused, idle, refused, expectInvalid } = writesOf(t);
const url = (path: string) => `/api/v1/metamodel/${path}`;
const keys = (answer: { body: { items: { key: string }[] } }) => answer.body.items.map((item) => item.key);
it('principles are created, changed, listed and deleted, an event for each', async () => {
  const body = { title: ' Reuse ', rationale: 'Cheaper.', sort_order: 3 };
  const { answer, events } = await eventsBy(t, () => admin.post(url('principles'), body), 201);
  expect(answer.body).toEqual({
    id: expect.any(String),
    title: 'Reuse',
    description: null,
    rationale: 'Cheaper.',
    implications: '',
    is_active: true,
    sort_order: 3,
    catalogue_id: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(events).toMatchObject([{ event_type: 'principle.created' }]);
  expect(events[0]!.data).toMatchObject({ id: answer.body.id, title: 'Reuse' });

  const one = url(`principles/${answer.body.id}`);
  const changed = await eventsBy(t, () =>
    admin.patch(one, { rationale: null, is_active: false }, { 'if-match': answer.headers.etag! }),
  );
  expect(changed.answer.body).toMatchObject({ rationale: '', is_active: false, title: 'Reuse' });
  const { changes } = changed.events[0]!.data;
  expect(changes).toEqual({ rationale: { old: 'Cheaper.', new: '' }, is_active: { old: true, new: false } });
  await idle(() => admin.patch(one, { is_active: false }));
  const stale = await refused(() => admin.patch(one, { title: 'X' }, { 'if-match': answer.headers.etag! }));
  expect(stale.status).toBe(412);
  expect((await viewer.get(`${url('principles')}?search=reuse&sort_by=title`)).body.total).toBe(1);
  const gone = await eventsBy(t, () => admin.delete(one));
  expect([gone.answer.status, gone.events[0]!.event_type]).toEqual([204, 'principle.deleted']);
  expect(gone.events[0]!.data.changes.title).toEqual({ old: 'Reuse', new: null });
  await expectProblem(admin.delete(one), 404);
});

it('principles refuse faulty input', async () => {
  const post = (body: unknown) => () => admin.post(url('principles'), body);
  await expectInvalid(post({ title: ' ' }), 'title');
  await expectInvalid(post({ title: 'x'.repeat(301) }), 'title');
  await expectInvalid(post({ title: 'x', catalogue_id: '1' }), 'catalogue_id');
  await expectRefused(() => admin.patch(url(`principles/${NOBODY}`), { title: 'x' }), 404);
  await expectRefused(() => admin.patch(url('principles/1'), { title: 'x' }), 422);
  await expectRefused(() => viewer.post(url('principles'), { title: 'x' }), 403, 'admin.metamodel');
});

it('compliance regulations begin with six that can be disabled but not deleted', async () => {
  const all = await viewer.get(url('compliance-regulations'));
  expect(keys(all)).toEqual(['eu_ai_act', 'gdpr', 'nis2', 'dora', 'soc2', 'iso27001']);
  expect(all.body.items[1]).toMatchObject({ label: 'GDPR (Regulation (EU) 2016/679)', sort_order: 20 });
  const gdpr = url(`compliance-regulations/${all.body.items[1].id}`);
  await expectRefused(() => admin.delete(gdpr), 409, 'built_in_frozen');
  const { answer, kinds } = await eventsBy(t, () =>
    admin.patch(gdpr, { is_enabled: false, translations: { de: 'DSGVO' } }),
  );
  expect(answer.body).toMatchObject({ is_enabled: false, translations: { de: 'DSGVO' } });
  expect(kinds).toEqual({ 'regulation.updated': 1 });
  expect(keys(await viewer.get(`${url('compliance-regulations')}?enabled_only=true`))).not.toContain('gdpr');
  const german = await viewer.get(`${url('compliance-regulations')}?search=dsgvo`, {
    'accept-language': 'de-AT, en;q=0.1',
  });
  expect(german.body.items[0].label).toBe('DSGVO');
  expect([german.headers['content-language'], german.headers.vary]).toEqual([
    'de',
    'Origin, Accept-Language',
  ]);
  await expectInvalid(() => admin.patch(gdpr, { key: 'x' }), 'key');
  await expectInvalid(() => admin.patch(gdpr, { translations: { '1': 'x' } }), 'translations.1');
});

it('compliance regulations take those of the workspace, with keys of their own', async () => {
  const body = { key: 'pci', label: 'PCI DSS', description: 'Look at card data.' };
  const made = await admin.post(url('compliance-regulations'), body);
  expect(made.body).toMatchObject({ ...body, built_in: false, is_enabled: true });
  await expectRefused(() => admin.post(url('compliance-regulations'), body), 409, 'key_taken');
  await ok(admin.delete(url(`compliance-regulations/${made.body.id}`)), 204);
});

it('resource types are link types and file categories, each with its keys', async () => {
  const links = await viewer.get(`${url('resource-types')}?kind=link_type`);
  expect(keys(links)).toEqual([
    'documentation',
    'contract',
    'security',
    'compliance',
    'architecture',
    'operations',
    'support',
    'other',
  ]);
  expect(links.body.items[0]).toMatchObject({ kind: 'link_type', icon: 'menu_book', built_in: true });
  expect((await viewer.get(`${url('resource-types')}?kind=file_category`)).body.total).toBe(7);
  const post = (kind: string) => () =>
    admin.post(url('resource-types'), { kind, key: 'runbook', label: 'Runbook', icon: 'book' });
  await ok(post('link_type')(), 201);
  await ok(post('file_category')(), 201);
  await expectRefused(post('link_type'), 409, 'key_taken');
  await expectRefused(post('photo'), 422);
  await expectProblem(viewer.get(`${url('resource-types')}?kind=photo`), 422);
});

/** May change the metamodel, and reads cards without their costs. */
const modeller = await t.holding('admin.metamodel', 'inventory.view', 'relations.view');

const types = '/api/v1/metamodel/types';
const schema = (type: string) => [
  { section: 'Money', fields: [{ key: 'price', label: 'Price', type, required: false, weight: 1 }] },
];

it('gives a role rights on cards only by those who hold them on all cards', async () => {
  const role = `${types}/Application/stakeholder-roles/observer`;
  const permissions = { 'card.view': true, 'card.create_comments': true, 'card.edit': true };
  await expectProblem(modeller.patch(role, { permissions }), 403, 'inventory.edit');
  await expectProblem(
    modeller.post(`${types}/Application/stakeholder-roles`, {
      key: 'remover',
      label: 'Remover',
      permissions: { 'card.delete': true },
    }),
    403,
    'inventory.delete',
  );
  expect((await admin.get(role)).body.permissions['card.edit'] ?? false).toBe(false);
  await ok(modeller.patch(role, { permissions: { 'card.view': true } }));
  await ok(admin.patch(role, { permissions }));
});

it('shows what was a cost to everybody only by those who see costs', async () => {
  const type = { key: 'Priced', label: 'Priced', fields_schema: schema('cost') };
  await admin.create(types, type);
  const card = await admin.card({ type: 'Priced', name: 'Priced', attributes: { price: 4711 } });
  await expectProblem(
    modeller.patch(`${types}/Priced`, { fields_schema: schema('number') }),
    403,
    'costs.view',
  );
  await expectProblem(modeller.patch(`${types}/Priced?force=true`, { fields_schema: [] }), 403, 'costs.view');
  expect((await modeller.get(`/api/v1/cards/${card.id}`)).text).not.toContain('4711');
  await ok(admin.patch(`${types}/Priced`, { fields_schema: schema('number') }));
});

it('hides the values of a field that becomes a cost in earlier events', async () => {
  const type = { key: 'Paid', label: 'Paid', fields_schema: schema('number') };
  await admin.create(types, type);
  const card = await admin.card({ type: 'Paid', name: 'Paid', attributes: { price: 4712 } });
  const history = `/api/v1/cards/${card.id}/history`;
  expect((await modeller.get(history)).text).toContain('4712');
  await ok(admin.patch(`${types}/Paid`, { fields_schema: schema('cost') }));
  for (const path of [history, '/api/v1/changes?after=0', `/api/v1/cards/${card.id}`]) {
    expect((await modeller.get(path)).text).not.toContain('4712');
    expect((await admin.get(path)).text).toContain('4712');
  }
});
