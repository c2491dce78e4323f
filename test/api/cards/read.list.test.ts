import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { card } from '../../support/writes.ts';
import { names, putCard, putStakeholder, raise } from './read.fixture.ts';
import orders from './read.list.orders.json' with { type: 'json' };
import refusedQueries from './read.list.refused.json' with { type: 'json' };

const ids = new Map<string, string>();
const { t, db, viewer, member, admin } = await openApp(['viewer', 'member', 'admin']);
const rows = [
  {
    name: 'Álpha',
    subtype: 'microservice',
    data_quality: 10,
    attributes: { costTotalAnnual: 30, numberOfUsers: 9 },
  },
  { name: 'beta', data_quality: 30, approval_status: 'APPROVED', attributes: { costTotalAnnual: 4 } },
  { name: 'Gamma', subtype: 'businessApplication', data_quality: 20, attributes: { numberOfUsers: 100 } },
  { name: 'delta', type: 'ITComponent', data_quality: 40, attributes: { version: '1' } },
  { name: 'Epsilon', status: 'ARCHIVED' },
];

for (const row of rows) ids.set(row.name, await putCard(t, row));
ids.set('Zeta', await putCard(t, { name: 'Zeta', parent_id: ids.get('Gamma') }));
const list = async (query: string, client = member) => await client.get(`/api/v1/cards?${query}`);
describe('filters', () => {
  it.each([
    ['', ['Álpha', 'beta', 'delta', 'Gamma', 'Zeta']],
    ['filter=', ['Álpha', 'beta', 'delta', 'Gamma', 'Zeta']],
    ['status=ARCHIVED', ['Epsilon']],
    ['status=all&type=Application', ['Álpha', 'beta', 'Epsilon', 'Gamma', 'Zeta']],
    ['status=ACTIVE,ARCHIVED&type=ITComponent,Application&approval_status=APPROVED', ['beta']],
    ['approval_status=DRAFT&type=ITComponent', ['delta']],
    ['parent_id=root&type=Application', ['Álpha', 'beta', 'Gamma']],
    ['filter=attributes.numberOfUsers > 10', ['Gamma']],
  ])('%s', async (query, expected) => {
    const body = await ok(list(query));
    expect(names(body)).toEqual(expected);
    expect(body.total).toBe(expected.length);
  });

  it('knows parents, ids and own cards', async () => {
    expect(names((await list(`parent_id=${ids.get('Gamma')}`)).body)).toEqual(['Zeta']);
    expect(names((await list(`ids=${ids.get('beta')},${ids.get('Zeta')}`)).body)).toEqual(['beta', 'Zeta']);
    await putStakeholder(t, ids.get('beta')!, member.userId, 'observer');
    expect(names((await list('mine=stakeholder')).body)).toEqual(['beta']);
    expect(names((await list('mine=stakeholder', viewer)).body)).toEqual([]);
  });

  it('leaves out hidden types', async () => {
    await db('card_types').where({ key: 'ITComponent' }).update({ is_hidden: true });
    await raise(t, 'metamodel');
    expect(names((await list('')).body)).not.toContain('delta');
    await expectProblem(member.get(`/api/v1/cards/${ids.get('delta')}`), 404);
    await db('card_types').where({ key: 'ITComponent' }).update({ is_hidden: false });
    await raise(t, 'metamodel');
    expect(names((await list('')).body)).toContain('delta');
  });

  it.each(refusedQueries as [string, string][])('refuses %s', async (query, field) => {
    const { status, body } = await list(query);
    expect(status).toBe(422);
    expect(body.errors[0].field).toBe(field);
  });
});

describe('order', () => {
  it('names all fields that cards can be sorted by, if it is by none', async () => {
    const { body } = await list('sort_by=colour');
    expect(body.errors[0].message).toMatch(
      /^is none of name, .*subtype, .*attributes\.<key>, phase, .*relevance$/,
    );
  });

  it.each(orders as [string, string, string[]][])('%s %s', async (sort, dir, expected) => {
    expect(names((await list(`sort_by=${sort}&sort_dir=${dir}`)).body)).toEqual(expected);
    const paged: string[] = [];
    for (const page of [1, 2, 3]) {
      const { body } = await list(`sort_by=${sort}&sort_dir=${dir}&page_size=2&page=${page}`);
      expect([body.total, body.page, body.page_size]).toEqual([5, page, 2]);
      paged.push(...names(body));
    }
    expect(paged).toEqual(expected);
    expect((await list(`sort_by=${sort}&page_size=2&page=4`)).body.items).toEqual([]);
    const walked: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await list(`sort_by=${sort}&sort_dir=${dir}&page_size=2&fields=name&cursor=${cursor}`);
      expect(body.total).toBeUndefined();
      walked.push(...names(body));
      cursor = body.next_cursor;
    }
    expect(walked).toEqual(expected);
  });

  it('of subtypes is that of the metamodel', async () => {
    const before = await ok(admin.get('/api/v1/metamodel/types/Application'));
    const subtypes = before.subtypes.toReversed();
    await ok(admin.patch('/api/v1/metamodel/types/Application', { subtypes }));
    const order = async () => names((await list('sort_by=subtype&type=Application')).body);
    expect((await order()).slice(-2)).toEqual(['Álpha', 'Gamma']);
    await ok(admin.patch('/api/v1/metamodel/types/Application', { subtypes: before.subtypes }));
    expect((await order()).slice(-2)).toEqual(['Gamma', 'Álpha']);
  });

  it('by a cost needs costs.view, and so does asking about one', async () => {
    const sorted = await list('sort_by=attributes.costTotalAnnual', viewer);
    await expectProblem(sorted, 403, 'costs.view');
    expect(sorted.body.detail).toContain('attributes.costTotalAnnual');
    await expectProblem(list('filter=attributes.costTotalAnnual > 3', viewer), 403);
  });

  it('cuts items to fields', async () => {
    const { body } = await list('fields=name, tags ,id&page_size=1');
    expect(body.items).toEqual([{ name: 'Álpha', tags: [], id: ids.get('Álpha') }]);
  });
});

it('what is kept between lists is never stale: a list sent after a change shows it', async () => {
  for (const query of [
    '',
    'sort_by=attributes.numberOfUsers',
    'search=fresh',
    'filter=attributes.numberOfUsers > 1',
  ]) {
    const before = (await list(query)).body.total;
    const id = await putCard(t, { name: 'Fresh', attributes: { numberOfUsers: 5 } });
    expect((await list(query)).body.total).toBe(before + 1);
    await db('cards').where({ id }).delete();
    await raise(t, 'cards:Application');
    expect((await list(query)).body.total).toBe(before);
  }
});

it('what is kept between lists answers 304 to the ETag of a list that has not changed', async () => {
  const first = await list('type=Application');
  await ok(member.get('/api/v1/cards?type=Application', { 'if-none-match': first.headers.etag! }), 304);
});

const unit = { type: 'BusinessCapability' };
it('finds cards by name, by a part of their path and by the whole of it', async () => {
  const sales = await admin.card({ ...unit, name: 'Sales' });
  const claims = await admin.card({ ...unit, name: 'Claims / Losses\\', parent_id: sales.id });
  const inner = await admin.card({ ...unit, name: 'Intake', parent_id: claims.id });
  const outer = await admin.card({ ...unit, name: 'Intake', parent_id: sales.id });
  const root = await admin.card({ ...unit, name: 'INTAKE' });
  await admin.post(card((await admin.card({ ...unit, name: 'Gone' })).id, '/archive'));
  const expected: [string, string | null][] = [
    ['sales', sales.id],
    [' Claims \\/ Losses\\\\ ', claims.id],
    ['claims \\/ losses\\\\/intake', inner.id],
    ['Sales / Intake', outer.id],
    ['Sales / Claims \\/ Losses\\\\ / Intake', inner.id],
    // a whole path, though two others end like it
    ['intake', root.id],
    ['Gone', null],
    ['Intake / Sales', null],
    ['', null],
    [' / ', null],
  ];
  const refs = expected.map(([ref], row) => ({ row, column: 'c', type: 'BusinessCapability', ref }));
  const answer = await ok(
    admin.post('/api/v1/cards/resolve-refs', {
      refs: [...refs, { row: 99, column: 'd', type: 'Application', ref: 'Sales' }],
    }),
  );
  expect(answer.results).toEqual([
    ...expected.map(([, id], row) => ({
      row,
      column: 'c',
      status: id ? 'resolved' : 'missing',
      id,
      candidates: null,
    })),
    { row: 99, column: 'd', status: 'missing', id: null, candidates: null },
  ]);

  await admin.delete(card(root.id));
  const ambiguous = await admin.post('/api/v1/cards/resolve-refs', {
    refs: [{ row: 1, column: 'c', type: 'BusinessCapability', ref: 'Intake' }],
  });
  expect(ambiguous.body.results[0]).toEqual({
    row: 1,
    column: 'c',
    status: 'ambiguous',
    id: null,
    candidates: [
      { id: outer.id, path: 'Sales / Intake' },
      { id: inner.id, path: 'Sales / Claims \\/ Losses\\\\ / Intake' },
    ],
  });
});

it('takes up to 5,000 references and checks them', async () => {
  const ref = { row: 1, column: 'c', type: 'Application', ref: 'X' };
  expect((await admin.post('/api/v1/cards/resolve-refs', { refs: [] })).body).toEqual({ results: [] });
  for (const refs of [Array(5_001).fill(ref), [{ ...ref, type: 1 }], [{ ...ref, nope: 1 }]])
    await expectProblem(admin.post('/api/v1/cards/resolve-refs', { refs }), 422);
});
