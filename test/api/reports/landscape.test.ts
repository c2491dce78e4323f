import { command } from '../../../domain/kernel/command.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { storeInventory } from '../../support/inventory.ts';

const at = (path: string) => `/api/v1/reports/${path}`;
const names = (items: { name: string }[]) => items.map(({ name }) => name).sort();

const { t, db, admin } = await openApp(['admin']);
const permissions = ['inventory.view', 'reports.ea_dashboard', 'reports.portfolio'];
const noRelations = await t.holding(...permissions);
const noCosts = await t.holding(...permissions, 'relations.view');
const ids = await storeInventory(
  t,
  {
    BusinessCapability: {
      Sales: {},
      Selling: { parent: 'Sales' },
      Unused: {},
      Closed: { status: 'ARCHIVED' },
    },
    Application: {
      '<script>crm': {
        attributes: { costTotalAnnual: 100, businessCriticality: 'missionCritical' },
        lifecycle: { active: '2024-01-01' },
      },
      shop: { attributes: { costTotalAnnual: 20.5 } },
      alone: { attributes: { costTotalAnnual: 7 } },
      gone: { attributes: { costTotalAnnual: 1000 }, status: 'ARCHIVED' },
    },
    Organization: { Headquarters: {} },
    ITComponent: { server: { attributes: { costTotalAnnual: 3 } } },
  },
  [
    ['relAppToBC', '<script>crm', 'Sales', { supportType: 'leading' }],
    ['relAppToBC', '<script>crm', 'Selling'],
    ['relAppToBC', 'shop', 'Selling'],
    ['relAppToBC', 'gone', 'Selling'],
    ['relAppToBC', 'alone', 'Closed'],
    ['relOrgToApp', 'Headquarters', '<script>crm'],
    ['relAppToITC', '<script>crm', 'server', { costTotalAnnual: 2 }],
  ],
);
ids.crm = ids['<script>crm']!;
await command(await t.ctx(), async ({ sql, raise }) => {
  const [group] = await sql('tag_groups').insert({ name: 'Strategy', mode: 'single' }).returning('id');
  const [tag] = await sql('tags')
    .insert({ tag_group_id: group.id, name: 'Invest', color: '#0067a5' })
    .returning('id');
  ids.tag = tag.id;
  await sql('card_tags').insert({ card_id: ids.crm, tag_id: tag.id });
  raise('catalogues');
});

describe('landscape', () => {
  it('puts each card under every card that it is related to', async () => {
    const body = await ok(admin.get(at('landscape')));
    expect(body.groups.map(({ name, items }: { name: string; items: [] }) => [name, names(items)])).toEqual([
      ['Sales', ['<script>crm']],
      ['Selling', ['<script>crm', 'shop']],
      ['Unused', []],
    ]);
    expect(body.groups[0].items[0]).toEqual({
      id: ids.crm,
      name: '<script>crm',
      type: 'Application',
      attributes: { costTotalAnnual: 100, businessCriticality: 'missionCritical' },
      lifecycle: { active: '2024-01-01' },
    });
    expect(body.ungrouped).toEqual([
      {
        id: ids.alone,
        name: 'alone',
        type: 'Application',
        attributes: { costTotalAnnual: 7 },
        lifecycle: null,
      },
    ]);
  });

  it('goes by relations of either direction, cuts costs and takes a filter for the cards', async () => {
    const cut = await noCosts.get(at('landscape?group_by=Organization'));
    expect(cut.text).not.toContain('costTotalAnnual');
    expect(names(cut.body.groups[0].items)).toEqual(['<script>crm']);
    expect(names(cut.body.ungrouped)).toEqual(['alone', 'shop']);
    const narrowed = await admin.get(at(`landscape?filter=${encodeURIComponent('name = "shop"')}`));
    expect(narrowed.body.groups.map(({ items }: { items: [] }) => items.length)).toEqual([0, 1, 0]);
    expect(narrowed.body.ungrouped).toEqual([]);
  });

  it('gives the same as CSV and as a picture', async () => {
    const csv = await admin.get(at('landscape'), { accept: 'text/csv' });
    expect(csv.text.trim().split('\r\n')).toHaveLength(1 + 4);
    const groups = await admin.get(at('landscape?table=groups'), { accept: 'text/csv' });
    expect(groups.text).toContain(`${ids.Selling},Selling,2`);
    const svg = await admin.get(at('landscape'), { accept: 'image/svg+xml' });
    expect(svg.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
    expect(svg.headers['content-security-policy']).toContain('sandbox');
    expect(svg.text).toContain('&lt;script&gt;crm');
    expect(svg.text).not.toContain('<script');
    await ok(
      admin.get(at('landscape'), { accept: 'image/svg+xml', 'if-none-match': svg.headers.etag! }),
      304,
    );
    await ok(admin.patch('/api/v1/settings/currency', { currency: 'CHF' }));
    const other = await admin.get(at('landscape'), { accept: 'image/svg+xml' });
    expect(other.headers.etag).not.toBe(svg.headers.etag);
  });

  it('refuses types that are not there, and those who see no relations', async () => {
    await expectProblem(admin.get(at('landscape?type=Nothing')), 422);
    await expectProblem(noRelations.get(at('landscape')), 403, 'relations.view');
  });
});

describe('capability heatmap', () => {
  it('rolls the figures up to the capabilities above, each application once', async () => {
    const body = await ok(admin.get(at('capability-heatmap?metric=total_cost&roll_up=true')));
    expect(pluck(body.items, 'name', 'app_count', 'total_cost')).toEqual([
      ['Sales', 2, 120.5],
      ['Selling', 2, 120.5],
      ['Unused', 0, 0],
    ]);
    expect(body.items[0].apps).toHaveLength(1);
  });

  it('colours and groups pictures by fields with options', async () => {
    const svg = { accept: 'image/svg+xml' };
    const drawn = async (path: string) => (await admin.get(at(path), svg)).text;
    expect(await drawn('capability-heatmap')).toContain('Business Capabilities by business criticality');
    const coloured = await drawn('capability-heatmap?color_field=timeModel');
    expect(coloured).toContain('Business Capabilities by TIME model');
    expect(await drawn('landscape?color_field=businessCriticality')).toContain('>Mission Critical</text>');
    expect(await drawn('roadmap?type=Application&group_by=businessCriticality')).toContain(
      'grouped by Business Criticality',
    );
    for (const [path, field] of [
      ['capability-heatmap?color_field=alias', 'color_field'],
      ['landscape?color_field=costTotalAnnual', 'color_field'],
      ['roadmap?type=Application&group_by=nothing', 'group_by'],
      ['roadmap?group_by=timeModel', 'group_by'],
    ] as const) {
      const { status, body } = await admin.get(at(path));
      expect([status, body.errors.map((error: { field: string }) => error.field)]).toEqual([422, [field]]);
    }
  });

  it('counts what is linked to each capability itself', async () => {
    const body = await ok(admin.get(at('capability-heatmap?metric=total_cost')));
    expect(pluck(body.items, 'name', 'parent_id', 'app_count', 'total_cost')).toEqual([
      ['Sales', null, 1, 100],
      ['Selling', ids.Sales, 2, 120.5],
      ['Unused', null, 0, 0],
    ]);
    expect(body.items[0].apps).toEqual([
      {
        id: ids.crm,
        name: '<script>crm',
        subtype: null,
        attributes: { costTotalAnnual: 100, businessCriticality: 'missionCritical' },
        lifecycle: { active: '2024-01-01' },
        org_ids: [ids.Headquarters],
        related_by_type: {
          BusinessCapability: [ids.Sales, ids.Selling].sort(),
          Organization: [ids.Headquarters],
          ITComponent: [ids.server],
        },
        tag_ids: [ids.tag],
      },
    ]);
    expect(body.metric).toBe('total_cost');
    expect(body.filterable_types.Organization).toEqual([
      { id: ids.Headquarters, name: 'Headquarters', type: 'Organization' },
    ]);
    expect(body.tag_groups).toContainEqual(
      expect.objectContaining({
        name: 'Strategy',
        tags: [{ id: ids.tag, name: 'Invest', color: '#0067a5' }],
      }),
    );
    expect(body.fields_schema.length).toBeGreaterThan(0);
  });

  it('counts the open risks of each capability and of its applications once, as they were at a moment too', async () => {
    const counts = async (query = '', client = admin) =>
      pluck(
        (await client.get(at(`capability-heatmap?metric=risk_count${query}`))).body.items,
        'name',
        'risk_count',
      );
    const before = new Date().toISOString();
    const add = async (card_ids: string[]) =>
      (await admin.post('/api/v1/risks', { title: 'Risk', card_ids })).body.id;
    await add([ids.crm!, ids.Selling!]);
    const second = await add([ids.crm!]);
    expect(await counts()).toEqual([
      ['Sales', 2],
      ['Selling', 2],
      ['Unused', 0],
    ]);
    const accepted = { status: 'accepted', acceptance_rationale: 'Small.' };
    for (const body of [accepted, { status: 'closed' }]) await admin.patch(`/api/v1/risks/${second}`, body);
    expect(await counts()).toEqual([
      ['Sales', 1],
      ['Selling', 1],
      ['Unused', 0],
    ]);
    expect(await counts(`&as_of=${before}`)).toEqual([
      ['Sales', 0],
      ['Selling', 0],
      ['Unused', 0],
    ]);
    expect((await noCosts.get(at('capability-heatmap'))).body.items[0]).not.toHaveProperty('risk_count');
    await expectProblem(noCosts.get(at('capability-heatmap?metric=risk_count')), 403, 'risks.view');
  });

  it('leaves costs out, and refuses the metric of costs, without costs.view', async () => {
    const { body, text } = await noCosts.get(at('capability-heatmap'));
    expect(text).not.toContain('total_cost');
    expect(JSON.stringify(body.items)).not.toContain('costTotalAnnual');
    await expectProblem(noCosts.get(at('capability-heatmap?metric=total_cost')), 403, 'costs.view');
    await expectProblem(admin.get(at('capability-heatmap?metric=other')), 422);
    const svg = await noCosts.get(at('capability-heatmap'), { accept: 'image/svg+xml' });
    expect(svg.text).toContain('Selling');
  });
});

describe('application portfolio', () => {
  it('gives the relations of each card and what it can be grouped by', async () => {
    const body = await ok(admin.get(at('app-portfolio')));
    expect(names(body.items)).toEqual(['<script>crm', 'alone', 'shop']);
    const crm = body.items.find(({ id }: { id: string }) => id === ids.crm);
    expect(crm.org_ids).toEqual([ids.Headquarters]);
    expect(crm.tag_ids).toEqual([ids.tag]);
    expect(
      pluck(crm.relations, 'relation_type', 'related_name', 'related_type', 'attributes').sort(),
    ).toEqual([
      ['relAppToBC', 'Sales', 'BusinessCapability', { supportType: 'leading' }],
      ['relAppToBC', 'Selling', 'BusinessCapability', {}],
      ['relAppToITC', 'server', 'ITComponent', { costTotalAnnual: 2 }],
      ['relOrgToApp', 'Headquarters', 'Organization', {}],
    ]);
    const keys = Object.keys(body.groupable_types).sort();
    expect(keys).toEqual(['BusinessCapability', 'ITComponent', 'Organization']);
    expect(body.organizations).toEqual([{ id: ids.Headquarters, name: 'Headquarters' }]);
    const types = new Map(body.relation_types.map((type: { key: string }) => [type.key, type]));
    expect(types.get('relOrgToApp')).toMatchObject({
      other_type_key: 'Organization',
      target_type_key: 'Application',
    });
  });

  it('cuts costs of cards and relations, and counts by organization in the picture', async () => {
    const { body } = await noCosts.get(at('app-portfolio'));
    expect(JSON.stringify(body.items)).not.toContain('costTotalAnnual');
    const csv = await admin.get(at('app-portfolio?table=relations'), { accept: 'text/csv' });
    expect(csv.text.trim().split('\r\n')).toHaveLength(1 + 5);
    const svg = await admin.get(at('app-portfolio'), { accept: 'image/svg+xml' });
    expect(svg.text).toContain('Headquarters');
  });

  it('shows relations within the type from both ends, and all as it was', async () => {
    const type = { key: 'appFollowsApp', label: 'follows', reverse_label: 'is followed by' };
    const ends = { source_type_key: 'Application', target_type_key: 'Application' };
    await admin.create('/api/v1/metamodel/relation-types', { ...type, ...ends });
    const relate = async (source_id: string, target_id: string) =>
      (await admin.relate(type.key, source_id, target_id)).id as string;
    await relate(ids.alone!, ids.shop!);
    const last = await relate(ids.crm!, ids.alone!);
    const followed = async (query: string) => {
      const { body } = await admin.get(at(`app-portfolio${query}`));
      const related = (item: {
        name: string;
        relations: { relation_type: string; related_name: string }[];
      }) => [
        item.name,
        ...item.relations
          .filter(({ relation_type }) => relation_type === type.key)
          .map(({ related_name }) => related_name),
      ];
      expect(names(body.groupable_types.Application)).toEqual(names(body.items));
      return body.items.map(related).sort();
    };
    const both = [
      ['<script>crm', 'alone'],
      ['alone', 'shop', '<script>crm'],
      ['shop', 'alone'],
    ];
    expect(await followed('')).toEqual(both);
    const { rows } = await db.raw('select utc(max(at)) as at from events');
    const added = await admin.post('/api/v1/cards', { type: 'Application', name: 'new' });
    await admin.delete(`/api/v1/relations/${last}`);
    await relate(added.body.id, ids.crm!);
    expect(await followed(`?as_of=${rows[0].at}`)).toEqual(both);
    expect(await followed('')).toEqual([
      ['<script>crm', 'new'],
      ['alone', 'shop'],
      ['new', '<script>crm'],
      ['shop', 'alone'],
    ]);
    const filter = encodeURIComponent('name = shop');
    const { body } = await admin.get(at(`app-portfolio?filter=${filter}`));
    expect([names(body.items), Object.keys(body.groupable_types)]).toEqual([
      ['shop'],
      ['BusinessCapability', 'Application'].sort(),
    ]);
  });
});

it('files have all groups, also those that a response of many omits', async () => {
  const many = Array.from({ length: 5_001 }, (_, at) => [`Provider ${at}`, {}] as const);
  await storeInventory(t, { Provider: Object.fromEntries(many) });
  const path = at('landscape?type=ITComponent&group_by=Provider');
  expect((await admin.get(path)).body).toMatchObject({ groups: [], group_count: 5_001, next_cursor: null });
  const csv = await admin.get(`${path}&table=groups`, { accept: 'text/csv' });
  expect(csv.text.trim().split('\r\n')).toHaveLength(5_002);
  const { text } = await admin.get(path, { accept: 'image/svg+xml' });
  expect(text).toContain('The first 60 of 5,001 are drawn');
});
