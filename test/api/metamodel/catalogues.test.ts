import { describe, expect, it } from 'vitest';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { expectRefused, idle, NOBODY, refused } from '../cards/write.fixture.ts';
import { eventsBy } from './metamodel.fixture.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const url = (path: string) => `/api/v1/metamodel/${path}`;
const keys = (answer: { body: { items: { key: string }[] } }) => answer.body.items.map((item) => item.key);

describe('principles', () => {
  it('are created, changed, listed and deleted, an event for each', async () => {
    const body = { title: ' Reuse ', rationale: 'Cheaper.', sort_order: 3 };
    const { answer, events } = await eventsBy(t, () => admin.post(url('principles'), body));
    expect(answer.status).toBe(201);
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
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ event_type: 'principle.created' });
    expect(events[0]!.data).toMatchObject({ id: answer.body.id, title: 'Reuse' });

    const one = url(`principles/${answer.body.id}`);
    const changed = await eventsBy(t, () =>
      admin.patch(one, { rationale: null, is_active: false }, { 'if-match': answer.headers.etag! }),
    );
    expect(changed.answer.body).toMatchObject({ rationale: '', is_active: false, title: 'Reuse' });
    expect(changed.events[0]!.data.changes).toEqual({
      rationale: { old: 'Cheaper.', new: '' },
      is_active: { old: true, new: false },
    });
    await idle(t, () => admin.patch(one, { is_active: false }));
    const stale = await refused(t, () =>
      admin.patch(one, { title: 'X' }, { 'if-match': answer.headers.etag! }),
    );
    expect(stale.status).toBe(412);
    const found = await viewer.get(`${url('principles')}?search=reuse&sort_by=title`);
    expect(found.body.total).toBe(1);
    const gone = await eventsBy(t, () => admin.delete(one));
    expect([gone.answer.status, gone.events[0]!.event_type]).toEqual([204, 'principle.deleted']);
    expect(gone.events[0]!.data.changes.title).toEqual({ old: 'Reuse', new: null });
    await expectProblem(admin.delete(one), 404);
  });

  it('refuse faulty input', async () => {
    const post = (body: unknown) => () => admin.post(url('principles'), body);
    await expectRefused(t, post({ title: ' ' }), 422, 'validation_failed', 'title');
    await expectRefused(t, post({ title: 'x'.repeat(301) }), 422, 'validation_failed', 'title');
    await expectRefused(t, post({ title: 'x', catalogue_id: '1' }), 422, 'validation_failed', 'catalogue_id');
    const one = url(`principles/${NOBODY}`);
    await expectRefused(t, () => admin.patch(one, { title: 'x' }), 404);
    await expectRefused(t, () => admin.patch(url('principles/1'), { title: 'x' }), 422);
    expect(await refused(t, () => viewer.post(url('principles'), { title: 'x' }))).toMatchObject({
      status: 403,
      body: { permission: 'admin.metamodel' },
    });
  });
});

describe('compliance regulations', () => {
  it('begin with six that can be disabled but not deleted', async () => {
    const all = await viewer.get(url('compliance-regulations'));
    expect(keys(all)).toEqual(['eu_ai_act', 'gdpr', 'nis2', 'dora', 'soc2', 'iso27001']);
    expect(all.body.items[1]).toMatchObject({ label: 'GDPR (Regulation (EU) 2016/679)', sort_order: 20 });
    const gdpr = url(`compliance-regulations/${all.body.items[1].id}`);
    await expectRefused(t, () => admin.delete(gdpr), 409, 'built_in_frozen');
    const { answer, kinds } = await eventsBy(t, () =>
      admin.patch(gdpr, { is_enabled: false, translations: { de: 'DSGVO' } }),
    );
    expect(answer.body).toMatchObject({ is_enabled: false, translations: { de: 'DSGVO' } });
    expect(kinds).toEqual({ 'regulation.updated': 1 });
    expect(keys(await viewer.get(`${url('compliance-regulations')}?enabled_only=true`))).not.toContain(
      'gdpr',
    );
    const german = await viewer.get(`${url('compliance-regulations')}?search=dsgvo`, {
      'accept-language': 'de-AT, en;q=0.1',
    });
    expect(german.body.items[0].label).toBe('DSGVO');
    expect([german.headers['content-language'], german.headers.vary]).toEqual([
      'de',
      'Origin, Accept-Language',
    ]);
    await expectRefused(t, () => admin.patch(gdpr, { key: 'x' }), 422, 'validation_failed', 'key');
    await expectRefused(
      t,
      () => admin.patch(gdpr, { translations: { '1': 'x' } }),
      422,
      'validation_failed',
      'translations.1',
    );
  });

  it('take those of the workspace, with keys of their own', async () => {
    const body = { key: 'pci', label: 'PCI DSS', description: 'Look at card data.' };
    const made = await admin.post(url('compliance-regulations'), body);
    expect(made.body).toMatchObject({ ...body, built_in: false, is_enabled: true });
    await expectRefused(t, () => admin.post(url('compliance-regulations'), body), 409, 'key_taken');
    await ok(admin.delete(url(`compliance-regulations/${made.body.id}`)), 204);
  });
});

describe('resource types', () => {
  it('are link types and file categories, each with its keys', async () => {
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
    await expectRefused(t, post('link_type'), 409, 'key_taken');
    await expectRefused(t, post('photo'), 422);
    await expectProblem(viewer.get(`${url('resource-types')}?kind=photo`), 422);
  });
});
