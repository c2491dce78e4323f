import { randomUUID } from 'node:crypto';
import { throttleLimits } from '../../../domain/access/access.throttle.ts';
import type { TestResponse } from '../../support/harness.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck, refusal } from '../../support/harness.ts';
import { all, createLandscape, makePortal, sections, uncounted, url } from './portals.fixture.ts';

const { t, db, admin } = await openApp(['admin']);
const land = await createLandscape(admin);

beforeEach(() => uncounted(t));

const look = (slug: string, rest = ''): Promise<TestResponse> =>
  t.anonymous.get(`${url}/public/${slug}${rest}`);
const cards = (slug: string, query: Record<string, string> = {}) =>
  look(slug, `/cards?${new URLSearchParams(query)}`);
const names = async (slug: string, query: Record<string, string> = {}) =>
  pluck((await ok(cards(slug, query))).items, 'name');
const json = (value: object) => JSON.stringify(value);
const patchType = (key: string, body: object) =>
  ok(admin.patch(`/api/v1/metamodel/types/${key}?force=true`, body));

describe('the public', () => {
  it('is told what the portal shows of each card', async () => {
    const { slug } = await makePortal(admin, { display_fields: all });
    const { body } = await cards(slug);
    expect(body).toMatchObject({ total: 2, page: 1, page_size: 24 });
    expect(body.items[0]).toEqual({
      id: land.ids.alpha,
      name: 'Alpha Desk',
      type: 'Product',
      subtype: 'tool',
      description: 'Pays the wages.',
      lifecycle: { active: '2024-01-31' },
      attributes: {
        ...{ grade: 'gold', channels: ['web', 'shop'], seats: 5, open: true, home: 'https://alpha.example/' },
      },
      approval_status: 'DRAFT',
      data_quality: expect.any(Number),
      tags: [
        { id: land.tags.red, name: 'Red', color: null, group_name: 'Colour' },
        { id: land.tags.blue, name: 'Blue', color: null, group_name: 'Mood' },
      ],
      relations: [
        ...[['haunts', land.ids.ghost, 'Casper', 'Ghost', 'incoming']],
        ...[['soldBy', land.ids.acme, 'Acme', 'Vendor', 'outgoing']],
      ].map(([type, related_id, related_name, related_type, direction]) => ({
        ...{ type, related_id, related_name, related_type, direction },
      })),
      stakeholders: [],
      updated_at: expect.stringMatching(/Z$/),
    });
    const portal = (await look(slug)).body;
    expect(portal).toMatchObject({ slug, filters: null, card_config: { sort_by: 'name', indexed: false } });
    expect(pluck(portal.type_info.fields_schema, 'section')).toEqual(['Facts']);
    expect(pluck(portal.relation_types, 'key', 'other_type_key')).toEqual([
      ['soldBy', 'Vendor'],
      ['haunts', 'Ghost'],
    ]);
    // a tag that no shown card has is not told
    expect(
      portal.tag_groups.flatMap(({ tags }: { tags: { name: string }[] }) => tags.map(({ name }) => name)),
    ).toEqual(['Red', 'Blue']);
  });

  it('is told nothing that the portal does not show', async () => {
    const { slug } = await makePortal(admin);
    const [alpha] = (await cards(slug)).body.items;
    expect(alpha).toEqual({
      ...{ id: land.ids.alpha, name: 'Alpha Desk', type: 'Product' },
      ...{ subtype: null, description: null, lifecycle: null, attributes: {}, approval_status: null },
      ...{ data_quality: null, tags: [], relations: [], stakeholders: [], updated_at: null },
    });
    const { type_info, relation_types, tag_groups, display_fields } = (await look(slug)).body;
    expect([type_info.fields_schema, type_info.subtypes, relation_types, tag_groups, display_fields]).toEqual(
      [...[[], [], [], [], []]],
    );
    // nor by asking for it, as a filter, an order, a search or in other ways
    const hidden: [Record<string, string>, string][] = [
      [{ subtype: 'tool' }, 'subtype'],
      [{ tag_ids: land.tags.red }, 'tag_ids'],
      [{ related_type: 'soldBy' }, 'related_type'],
      [{ related_type: 'None' }, 'related_type'],
      [{ related_id: land.ids.acme }, 'related_id'],
      [{ relation_filters: json({ soldBy: [land.ids.acme] }) }, 'relation_filters.soldBy'],
      [{ attr_filters: json({ secret: ['classified'] }) }, 'attr_filters.secret'],
      [{ attr_filters: json({ none: ['classified'] }) }, 'attr_filters.none'],
      [{ attr_filters: json({ price: [918273] }) }, 'attr_filters.price'],
      [{ sort_by: 'attributes.price' }, 'sort_by'],
      [{ sort_by: 'attributes.secret' }, 'sort_by'],
      [{ sort_by: 'attributes.none' }, 'sort_by'],
      [{ sort_by: 'updated_at' }, 'sort_by'],
      [{ sort_by: 'created_at' }, 'sort_by'],
      [{ status: 'ARCHIVED' }, 'status'],
      [{ filter: 'attributes.price > 1' }, 'filter'],
      [{ fields: 'external_id' }, 'fields'],
    ];
    for (const [query, field] of hidden)
      expect(await refusal(cards(slug, query)), json(query)).toEqual([422, 'validation_failed', field]);
    await expectInvalid(look(slug, '/relation-options?type_key=soldBy'), 'type_key');
    // what is hidden is refused in the same words as what is not there
    const words = async (query: Record<string, string>) => (await cards(slug, query)).body.errors[0].message;
    expect(await words({ related_type: 'soldBy' })).toBe(await words({ related_type: 'None' }));
    expect(await words({ attr_filters: json({ price: [1] }) })).toBe(
      await words({ attr_filters: json({ none: [1] }) }),
    );
    expect(await words({ sort_by: 'attributes.price' })).toBe(await words({ sort_by: 'attributes.none' }));
    for (const search of ['hushed', 'ext', 'seven', 'wages', 'classified', '918273', 'acme', 'gone', '?!'])
      expect(await names(slug, { search }), search).toEqual([]);
    expect(await names(slug, { search: 'DESK alph' })).toEqual(['Alpha Desk']);
    expect(await refusal(look(slug, '/cards?page_size=101&page=0&sort_dir=up'))).toEqual(
      expect.arrayContaining(['page_size', 'page', 'sort_dir']),
    );
  });

  it('sees the same when logged in', async () => {
    const { slug } = await makePortal(admin, { display_fields: all });
    for (const rest of ['', '/cards', '/relation-options?type_key=soldBy'])
      expect((await admin.get(`${url}/public/${slug}${rest}`)).text).toBe((await look(slug, rest)).text);
  });

  it('sees no draft, whatever it asks', async () => {
    const { slug } = await makePortal(admin, { is_published: false });
    for (const rest of ['', '/cards', '/relation-options?type_key=soldBy']) {
      const draft = await look(slug, rest);
      const none = await look(`portal-${randomUUID()}`, rest);
      const told = ({ status, body: { request_id: _, ...body } }: TestResponse) => [status, body];
      expect(told(draft)).toEqual(told(none));
      expect(draft.status).toBe(404);
      expect(draft.headers.etag).toBeUndefined();
      await expectProblem(admin.get(`${url}/public/${slug}${rest}`), 404);
    }
  });

  it('searches, filters and orders by what is shown', async () => {
    const { slug } = await makePortal(admin, { display_fields: all });
    const only = async (query: Record<string, string>, ...expected: string[]) =>
      expect(await names(slug, query), json(query)).toEqual(expected);
    const { red, blue, unused } = land.tags;
    await only({ search: 'wages' }, 'Alpha Desk');
    await only({ search: 'wag pay' }, 'Alpha Desk');
    for (const search of ['hushed', 'ext', 'seven', 'ext-seven']) await only({ search });
    await only({ subtype: 'tool' }, 'Alpha Desk');
    await only({ tag_ids: red }, 'Alpha Desk');
    await only({ tag_ids: `${red},${blue}` }, 'Alpha Desk');
    await only({ tag_ids: `${red},${unused}` }, 'Alpha Desk');
    await only({ tag_ids: unused });
    await only({ tag_ids: `${red},${randomUUID()}` });
    await only({ related_type: 'soldBy' }, 'Alpha Desk');
    await only({ related_type: 'Vendor', related_id: land.ids.acme }, 'Alpha Desk');
    await only({ related_id: land.ids.ghost }, 'Alpha Desk');
    // archived cards are no way to others
    await only({ related_id: land.ids.retired });
    await only(
      { relation_filters: json({ soldBy: [land.ids.acme], Ghost: [land.ids.ghost] }) },
      'Alpha Desk',
    );
    await only({ relation_filters: json({ haunts: [land.ids.acme] }) });
    await only({ attr_filters: json({ grade: ['gold'] }) }, 'Alpha Desk');
    await only({ attr_filters: json({ grade: ['gold', 'silver'] }) }, 'Alpha Desk', 'Beta Desk');
    await only({ attr_filters: json({ channels: ['web'], open: [true], seats: [5] }) }, 'Alpha Desk');
    await only({ attr_filters: json({ 'attributes.seats': [7] }) }, 'Beta Desk');
    await only({ sort_by: 'attributes.seats', sort_dir: 'desc' }, 'Beta Desk', 'Alpha Desk');
    await only({ sort_by: 'name', sort_dir: 'desc' }, 'Beta Desk', 'Alpha Desk');
    await only({ page: '2', page_size: '1' }, 'Beta Desk');
    await only({ page: '3', page_size: '1' });
    for (const [query, field] of [
      [{ attr_filters: json({ grade: ['none'] }) }, 'attr_filters.grade.0'],
      [{ attr_filters: json({ seats: ['5'] }) }, 'attr_filters.seats.0'],
      [{ attr_filters: json({ seats: 5 }) }, 'attr_filters.seats'],
      [{ attr_filters: '{' }, 'attr_filters'],
      [{ attr_filters: '[]' }, 'attr_filters'],
      [{ attr_filters: '{"__proto__":["a"]}' }, 'attr_filters.__proto__'],
      [{ relation_filters: json({ soldBy: ['7'] }) }, 'relation_filters.soldBy.0'],
      [{ tag_ids: 'red' }, 'tag_ids'],
      [{ subtype: 'none' }, 'subtype'],
      [{ page: '101', page_size: '100' }, 'page'],
    ] as const)
      expect(await refusal(cards(slug, query)), json(query)).toEqual([422, 'validation_failed', field]);
    expect(await refusal(cards(slug, { related_id: 'acme' }))).toContain('related_id');
    expect((await look(slug, '/relation-options?type_key=Vendor')).body).toEqual({
      ...{ items: [{ id: land.ids.acme, name: 'Acme' }], total: 1, page: 1, page_size: 24 },
    });
    expect((await look(slug, '/relation-options?type_key=haunts&search=asp')).body.items).toHaveLength(1);
    expect((await look(slug, '/relation-options?type_key=haunts&search=x')).body).toMatchObject({ total: 0 });
  });

  it('sees the cards that the portal’s filters select', async () => {
    const shown = async (filters: object, ...expected: string[]) => {
      const { slug } = await makePortal(admin, { filters, display_fields: all });
      expect(await names(slug), json(filters)).toEqual(expected);
      // options and tags are those of shown cards
      const { body } = await look(slug, '/relation-options?type_key=soldBy');
      expect(body.total).toBe(expected.includes('Alpha Desk') ? 1 : 0);
      expect((await look(slug)).body.tag_groups).toHaveLength(expected.includes('Alpha Desk') ? 2 : 0);
    };
    await shown({ subtypes: ['tool'] }, 'Alpha Desk');
    await shown({ tag_ids: [land.tags.red] }, 'Alpha Desk');
    await shown({ filter: 'attributes.seats > 5' }, 'Beta Desk');
    await shown({ filter: 'relation.soldBy.target.name = Acme', subtypes: ['tool'] }, 'Alpha Desk');
    await shown({ subtypes: ['service'] });
  });

  it('is no longer told what becomes a cost, is hidden, or vanishes', async () => {
    const { slug } = await makePortal(admin, {
      display_fields: ['grade', 'seats', 'relations.haunts', 'relations.soldBy'],
      card_config: { sort_by: 'attributes.seats', sort_dir: 'desc' },
    });
    const chosen = await makePortal(admin, { filters: { filter: 'attributes.seats > 5' } });
    expect(await names(slug)).toEqual(['Beta Desk', 'Alpha Desk']);
    expect(await names(chosen.slug)).toEqual(['Beta Desk']);

    const costly = sections();
    costly[0]!.fields.find(({ key }) => key === 'seats')!.type = 'cost';
    await patchType('Product', { fields_schema: costly });
    expect(pluck((await cards(slug)).body.items, 'name', 'attributes')).toEqual([
      ['Alpha Desk', { grade: 'gold' }],
      ['Beta Desk', { grade: 'silver' }],
    ]);
    expect((await look(slug)).body.display_fields).not.toContain('attributes.seats');
    expect(await refusal(cards(slug, { sort_by: 'attributes.seats' }))).toContain('sort_by');
    expect(await refusal(cards(slug, { attr_filters: json({ seats: [5] }) }))).toContain(
      'attr_filters.seats',
    );
    // a filter that can no longer be kept lets nothing through
    expect((await cards(chosen.slug)).body).toMatchObject({ items: [], total: 0 });

    await patchType('Ghost', { is_hidden: true });
    const left = await cards(slug);
    expect(left.text).not.toContain('Casper');
    expect(left.text).toContain('Acme');
    expect((await look(slug)).text).not.toMatch(/haunt|Ghost/);
    expect(await names(slug, { related_id: land.ids.ghost })).toEqual([]);

    await patchType('Product', { is_hidden: true });
    await expectProblem(look(slug), 404);
    await expectProblem(cards(slug), 404);
    await patchType('Product', { is_hidden: false, fields_schema: sections() });
    await patchType('Ghost', { is_hidden: false });
    expect(await names(slug)).toEqual(['Beta Desk', 'Alpha Desk']);
  });
});

describe('an answer', () => {
  it('is kept while nothing that it shows changes, and by browsers for half a minute', async () => {
    const { slug } = await makePortal(admin, { display_fields: ['description', 'relations.soldBy'] });
    const first = await cards(slug);
    expect(first.headers['cache-control']).toBe('public, max-age=30');
    expect(first.headers['x-robots-tag']).toBe('noindex');
    const again = async (etag: string, rest: string) =>
      (await t.anonymous.get(`${url}/public/${slug}${rest}`, { 'if-none-match': etag })).status;
    expect(await again(first.headers.etag!, '/cards')).toBe(304);
    expect(await again((await look(slug)).headers.etag!, '')).toBe(304);

    const change = async (id: string, body: object) =>
      expect((await admin.patch(`/api/v1/cards/${id}`, body)).status).toBe(200);
    await change(land.ids.acme, { name: 'Acme & Sons' });
    expect((await cards(slug)).text).toContain('Acme & Sons');
    expect(await again(first.headers.etag!, '/cards')).toBe(200);
    await change(land.ids.beta, { description: 'New' });
    expect((await cards(slug)).text).toContain('"New"');
    await change(land.ids.acme, { name: 'Acme' });
    await admin.post(`/api/v1/cards/${land.ids.beta}/archive`);
    expect((await cards(slug)).body.total).toBe(1);
    await admin.post(`/api/v1/cards/${land.ids.beta}/restore`);
    expect((await cards(slug)).body.total).toBe(2);
  });

  it('may be listed by search engines only when the portal says so', async () => {
    const { slug } = await makePortal(admin, { card_config: { indexed: true } });
    expect((await look(slug)).headers['x-robots-tag']).toBeUndefined();
  });

  it('is refused to an address that asks too often, whether there is a portal or not', async () => {
    const { slug } = await makePortal(admin);
    await db('throttles').insert({
      key: 'portal:address 203.0.113.7',
      window_start: new Date(),
      hits: throttleLimits.portal - 1,
    });
    const ask = (remoteAddress: string, address = `${url}/public/${slug}`) =>
      t.anonymous.request({ method: 'GET', url: address, remoteAddress });
    await ok(ask('203.0.113.7'));
    for (const address of [`${url}/public/${slug}`, `${url}/public/none/cards`, `/portal/${slug}`]) {
      const refused = await ask('203.0.113.7', address);
      expect(refused.status, address).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    await ok(ask('203.0.113.8'));
  });
});
