import { randomUUID } from 'node:crypto';
import {
  answered,
  expectInvalid,
  expectProblem,
  ok,
  openApp,
  refusal,
  type TestClient,
} from '../../support/harness.ts';
import { createLandscape, makePortal, url } from './portals.fixture.ts';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);
const land = await createLandscape(admin);

const told = async () => await db('events').whereLike('event_type', 'web_portal.%').orderBy('position');
const undoLast = async () => {
  const { batch_id } = (await told()).at(-1);
  return await admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false });
};

describe('a web portal', () => {
  it('is made as a draft, read, listed, changed and deleted, with an event for each', async () => {
    const body = {
      name: ' Our products ',
      slug: 'our-products',
      card_type: 'Product',
      description: 'What we have.',
      filters: { subtypes: ['tool'], tag_ids: [land.tags.red], filter: 'approval_status = DRAFT' },
      // the key of an attribute may stand alone
      display_fields: ['description', 'grade', 'attributes.seats', 'relations.soldBy'],
      card_config: { sort_by: 'attributes.seats', sort_dir: 'desc' },
    };
    const made = await answered(admin.post(url, body), 201);
    expect(made.body).toMatchObject({
      ...body,
      name: 'Our products',
      display_fields: ['description', 'attributes.grade', 'attributes.seats', 'relations.soldBy'],
      is_published: false,
      created_by: admin.userId,
    });
    const { id } = made.body;
    const read = await admin.get(`${url}/${id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.etag).toBe(made.headers.etag);
    expect((await admin.get(`${url}?search=our-prod`)).body.items).toEqual([made.body]);

    const etag = read.headers.etag!;
    const patched = await admin.patch(
      `${url}/${id}`,
      { description: null, filters: null },
      { 'if-match': etag },
    );
    expect(patched.body).toMatchObject({ description: null, filters: {}, slug: 'our-products' });
    await expectProblem(admin.patch(`${url}/${id}`, {}, { 'if-match': etag }), 412, 'precondition_failed');
    const same = await admin.patch(`${url}/${id}`, { slug: 'our-products' });
    expect(same.body).toEqual(patched.body);
    expect(same.headers['x-position']).toBeUndefined();
    await ok(admin.delete(`${url}/${id}`), 204);
    await expectProblem(admin.delete(`${url}/${id}`), 404, 'not_found');
    expect(
      (await told()).map(({ event_type, data }) => [event_type, data.slug, Object.keys(data.changes)]),
    ).toEqual([
      ['web_portal.created', 'our-products', expect.arrayContaining(['slug', 'display_fields', 'filters'])],
      ['web_portal.updated', 'our-products', ['filters', 'description']],
      ['web_portal.deleted', 'our-products', expect.arrayContaining(['slug', 'card_config'])],
    ]);
    const feed = async (client: TestClient) =>
      (await client.get('/api/v1/changes?limit=10000')).body.items.filter(
        ({ event_type }: { event_type: string }) => event_type.startsWith('web_portal.'),
      ).length;
    expect([await feed(admin), await feed(viewer)]).toEqual([3, 0]);
  });

  it('is seen by those who may see portals once it is published', async () => {
    const { id } = await makePortal(admin, { is_published: false });
    const listed = async () =>
      (await viewer.get(`${url}?page_size=200`)).body.items.some((item: { id: string }) => item.id === id);
    await expectProblem(viewer.get(`${url}/${id}`), 404, 'not_found');
    expect(await listed()).toBe(false);
    await admin.patch(`${url}/${id}`, { is_published: true });
    await ok(viewer.get(`${url}/${id}`));
    expect(await listed()).toBe(true);
    await expectProblem(viewer.patch(`${url}/${id}`, { name: 'Mine' }), 403, 'forbidden');
  });

  it('has fields of a short form among the shown ones', async () => {
    const shown = { display_fields: ['description', 'grade', 'seats'] };
    const { id, slug } = await makePortal(admin, { ...shown, card_config: { short_fields: ['grade'] } });
    const config = async () => (await t.anonymous.get(`${url}/public/${slug}`)).body.card_config;
    expect(await config()).toMatchObject({ short_fields: ['attributes.grade'], show_logo: true });
    const change = (body: object) => admin.patch(`${url}/${id}`, body);
    await expectInvalid(
      change({ card_config: { short_fields: ['seats', 'open', 'seats'] } }),
      'card_config.short_fields.1 not_offered',
      'card_config.short_fields.2 duplicate',
    );
    // a field that is no longer shown may not remain in the short form
    await expectInvalid(change({ display_fields: ['seats'] }), 'card_config.short_fields.0 not_offered');
    await ok(change({ card_config: { show_logo: false } }));
    expect(await config()).toMatchObject({
      short_fields: ['description', 'attributes.grade', 'attributes.seats'],
      show_logo: false,
    });
  });

  it('has a slug of its own', async () => {
    const { slug } = await makePortal(admin);
    const other = await makePortal(admin);
    const body = { name: 'Other', slug, card_type: 'Product' };
    await expectProblem(admin.post(url, body), 409, 'slug_taken');
    await expectProblem(admin.patch(`${url}/${other.id}`, { slug }), 409, 'slug_taken');
    for (const bad of [
      'Our-Products',
      'our--products',
      '-our',
      'our-',
      'our_products',
      'ou r',
      'übersicht',
      '',
    ])
      expect(await refusal(admin.post(url, { ...body, slug: bad })), bad).toEqual(
        expect.arrayContaining([422, 'validation_failed', 'slug']),
      );
  });

  it('shows what the type has, and no costs', async () => {
    const body = { name: 'Bad', slug: `bad-${randomUUID()}`, card_type: 'Product' };
    const fields = (...display_fields: unknown[]) => refusal(admin.post(url, { ...body, display_fields }));
    const refused = (...names: string[]) => [422, 'validation_failed', ...names];
    for (const entry of [
      ...['price', 'attributes.price', 'attributes.none', 'relations.relAppToITC', 'relations.none'],
      ...[
        'stakeholders',
        'created_by',
        'external_id',
        'alias',
        'parent_id',
        'constructor',
        'attributes.__proto__',
      ],
    ])
      expect(await fields('tags', entry), entry).toEqual(refused('display_fields.1'));
    expect(await fields('grade', 'attributes.grade')).toEqual(refused('display_fields.1'));
    expect(await fields({ key: 'grade' })).toContain('display_fields.0');
    expect((await admin.post(url, { ...body, display_fields: ['price'] })).body.errors).toEqual([
      { field: 'display_fields.0', code: 'cost_field', message: 'is a cost, which no portal shows' },
    ]);
  });

  it('is ordered and filtered by what may be told', async () => {
    const body = {
      name: 'Bad',
      slug: `bad-${randomUUID()}`,
      card_type: 'Product',
      display_fields: ['grade'],
    };
    const make = (more: object) => refusal(admin.post(url, { ...body, ...more }));
    const refused = (...names: string[]) => [422, 'validation_failed', ...names];
    for (const sort_by of ['attributes.price', 'attributes.seats', 'updated_at', 'created_at', 'id'])
      expect(await make({ card_config: { sort_by } }), sort_by).toEqual(refused('card_config.sort_by'));
    for (const filter of [
      'attributes.price > 5',
      'stakeholder.responsible is empty',
      'not (name = "x" and created_by = me)',
      'updated_by is empty',
      'attributes.none = 1',
      'grade =',
    ])
      expect(await make({ filters: { filter } }), filter).toEqual(refused('filters.filter'));
    expect(await make({ filters: { subtypes: ['none'], tag_ids: [randomUUID()] } })).toEqual(
      refused('filters.subtypes.0', 'filters.tag_ids.0'),
    );
    expect(await make({ filters: { none: 1 }, card_config: { none: 1 }, other: 1 })).toEqual(
      expect.arrayContaining(['filters.none', 'card_config.none', 'other']),
    );
    expect(await make({ card_type: 'None' })).toEqual(refused('card_type'));
    expect(await make({ name: ' ' })).toEqual(refused('name'));
    // all is looked at again when the type changes
    const { id } = await makePortal(admin, { display_fields: ['grade'], filters: { subtypes: ['tool'] } });
    expect(await refusal(admin.patch(`${url}/${id}`, { card_type: 'Vendor' }))).toEqual(
      refused('display_fields.0', 'filters.subtypes.0'),
    );
    const moved = { card_type: 'Vendor', display_fields: ['tags', 'relations.soldBy'], filters: null };
    expect((await admin.patch(`${url}/${id}`, moved)).body).toMatchObject({ ...moved, filters: {} });
  });

  it('comes back and goes when its batch is undone, at once for the public', async () => {
    const { slug, id } = await makePortal(admin);
    const open = async () => (await t.anonymous.get(`${url}/public/${slug}`)).status;
    expect(await open()).toBe(200);
    await admin.patch(`${url}/${id}`, { is_published: false });
    expect(await open()).toBe(404);
    await ok(undoLast());
    expect(await open()).toBe(200);
    await admin.delete(`${url}/${id}`);
    expect(await open()).toBe(404);
    await undoLast();
    expect(await open()).toBe(200);
    // in the meantime somebody else has taken the slug
    await admin.delete(`${url}/${id}`);
    const { batch_id } = (await told()).at(-1);
    await makePortal(admin, { slug });
    const refused = await admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false });
    expect(refused.text).toContain('conflict');
  });

  it('is kept without its maker, whose data tell of it', async () => {
    const maker = await t.as('admin', 'maker');
    const { id, slug } = await makePortal(maker);
    const data = await admin.get(`/api/v1/accounts/${maker.userId}/personal-data`);
    expect(data.body.web_portals).toMatchObject([{ id, slug }]);
    await db('users').where({ id: maker.userId }).delete();
    expect((await admin.get(`${url}/${id}`)).body.created_by).toBeNull();
  });
});

it('the author of a web portal sees what it shows', async () => {
  const keeper = await t.holding('web_portals.manage');
  const body = { name: 'Seen', slug: 'seen', card_type: 'Product', is_published: true };
  await expectProblem(keeper.post(url, body), 403, 'inventory.view');
  const { id } = (await admin.post(url, { ...body, is_published: false })).body;
  await expectProblem(keeper.patch(`${url}/${id}`, { is_published: true }), 403, 'inventory.view');
  const reader = await t.holding('web_portals.manage', 'inventory.view', 'relations.view');
  await ok(reader.patch(`${url}/${id}`, { is_published: true }));
  await ok(keeper.delete(`${url}/${id}`), 204);
});
