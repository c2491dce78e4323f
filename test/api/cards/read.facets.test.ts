import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const create = async (type: string, name: string, more: object = {}) =>
  (await admin.create('/api/v1/cards', { type, name, ...more })).id as string;

type Value = { value: string; count: number; label: string | null; group: string | null };
type Facets = { total: number; facets: { facet: string; values: Value[]; without: number }[] };
/** The counts of each facet by value, `-` for the cards without one. */
async function facetsOf(query: Record<string, string>, client = admin) {
  const answer: Facets = await ok(client.get(`/api/v1/cards/facets?${new URLSearchParams(query)}`));
  const counts = answer.facets.map(({ facet, values, without }) => [
    facet,
    Object.fromEntries([...values.map(({ value, label, count }) => [label ?? value, count]), ['-', without]]),
  ]);
  return { total: answer.total, ...Object.fromEntries(counts) };
}

const group = await admin.create('/api/v1/tag-groups', { name: 'Cloud' });
const tag = await admin.create(`/api/v1/tag-groups/${group.id}/tags`, { name: 'Ready' });
const hosting = (hostingType: string) => ({ attributes: { hostingType } });
const old = { lifecycle: { active: '2000-01-01' } };
const one = await create('Application', 'One', {
  subtype: 'businessApplication',
  ...hosting('onPremise'),
  ...old,
});
const two = await create('Application', 'Two', { ...hosting('cloudSaaS'), ...old });
const three = await create('Application', 'Three', { lifecycle: { plan: '2999-01-01' } });
const server = await create('ITComponent', 'Server');
for (const source_id of [one, two])
  await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id, target_id: server });
await admin.create(`/api/v1/cards/${one}/tags`, [tag.id]);
await ok(admin.post(`/api/v1/cards/${two}/approval-status?action=approve`, {}));

it('counts each facet without its own conditions, and the cards without a value', async () => {
  const facets =
    'type,subtype,approval_status,lifecycle_phase,tags,attributes.hostingType,relations.relAppToITC';
  expect(await facetsOf({ facets })).toEqual({
    total: 4,
    type: { Application: 3, ITComponent: 1, '-': 0 },
    subtype: { businessApplication: 1, '-': 3 },
    approval_status: { DRAFT: 3, APPROVED: 1, '-': 0 },
    lifecycle_phase: { active: 2, plan: 1, '-': 1 },
    tags: { Ready: 1, '-': 3 },
    'attributes.hostingType': { onPremise: 1, cloudSaaS: 1, '-': 2 },
    'relations.relAppToITC': { Server: 2, One: 1, Two: 1, '-': 1 },
  });
  const filter =
    '(attributes.hostingType = onPremise or attributes.hostingType is empty) and lifecycle.plan is empty';
  expect(await facetsOf({ facets, type: 'Application', filter })).toEqual({
    total: 1,
    type: { Application: 1, ITComponent: 1, '-': 0 },
    subtype: { businessApplication: 1, '-': 0 },
    approval_status: { DRAFT: 1, '-': 0 },
    lifecycle_phase: { active: 1, plan: 1, '-': 0 },
    tags: { Ready: 1, '-': 0 },
    'attributes.hostingType': { onPremise: 1, cloudSaaS: 1, '-': 0 },
    'relations.relAppToITC': { Server: 1, '-': 0 },
  });
});

it('counts the cards of each person once, whatever roles they have', async () => {
  const { userId } = viewer;
  const roles = ['responsible', 'observer'];
  for (const [card, own] of [
    [one, roles],
    [two, roles.slice(0, 1)],
  ] as const)
    for (const role of own)
      await ok(admin.post(`/api/v1/cards/${card}/stakeholders`, { user_id: userId, role }), 201);
  const { display_name } = (await admin.get(`/api/v1/users/${userId}`)).body;
  const counts = { [display_name]: 2, '-': 2 };
  expect((await facetsOf({ facets: 'stakeholder' })).stakeholder).toEqual(counts);
  const filter = `stakeholder in (${userId}) and type = Application`;
  const filtered = await facetsOf({ facets: 'stakeholder,type', filter });
  expect(filtered.stakeholder).toEqual({ ...counts, '-': 1 });
  expect(filtered.type.Application).toBe(2);
});

it('equals the list with the value added to the request', async () => {
  const request = { search: 'e', type: 'Application', approval_status: 'DRAFT' };
  const { total, approval_status } = await facetsOf({ ...request, facets: 'approval_status' });
  expect((await admin.get(`/api/v1/cards?${new URLSearchParams(request)}`)).body.total).toBe(total);
  for (const [status, count] of Object.entries(approval_status).filter(([value]) => value !== '-')) {
    const query = new URLSearchParams({ ...request, approval_status: status });
    expect((await admin.get(`/api/v1/cards?${query}`)).body.total).toBe(count);
  }
});

it('is counted again after a change', async () => {
  const before = await facetsOf({ facets: 'subtype', type: 'Application' });
  await ok(admin.patch(`/api/v1/cards/${three}`, { subtype: 'microservice' }));
  const after = await facetsOf({ facets: 'subtype', type: 'Application' });
  expect(before.subtype.microservice).toBeUndefined();
  expect(after.subtype).toEqual({ ...before.subtype, microservice: 1, '-': before.subtype['-'] - 1 });
});

it('refuses unknown facets, and what the caller may not see', async () => {
  for (const facets of ['', 'nothing', 'attributes.nothing', 'relations.nothing', 'type,', 'constructor'])
    if (facets !== 'type,') await expectProblem(admin.get(`/api/v1/cards/facets?facets=${facets}`), 422);
  await expectProblem(admin.get('/api/v1/cards/facets?facets=type&filter=nonsense'), 422);
  await expectProblem(
    viewer.get('/api/v1/cards/facets?facets=attributes.costTotalAnnual'),
    403,
    'costs.view',
  );
  const blind = await t.holding('inventory.view');
  await expectProblem(blind.get('/api/v1/cards/facets?facets=relations.relAppToITC'), 403, 'relations.view');
  await expectProblem(blind.get('/api/v1/cards/facets?facets=stakeholder'), 403, 'stakeholders.view');
  expect(await facetsOf({ facets: 'attributes.costTotalAnnual' })).toMatchObject({
    'attributes.costTotalAnnual': { '-': 4 },
  });
});

it('counts by type take the filters of the list', async () => {
  const counted = async (query: string) => (await ok(admin.get(`/api/v1/cards/counts?${query}`))).total;
  expect(await counted('')).toBe(4);
  expect(await counted('type=Application')).toBe(3);
  expect(await counted('approval_status=APPROVED')).toBe(1);
  expect(await counted('status=ARCHIVED')).toBe(0);
  expect(await counted('mine=stakeholder')).toBe(0);
  expect(await counted(`filter=${encodeURIComponent('attributes.hostingType is not empty')}`)).toBe(2);
  await expectProblem(admin.get('/api/v1/cards/counts?type=Nothing'), 422);
});

it('adds up numbers of the cards that match all conditions', async () => {
  const fields = 'data_quality,attributes.numberOfUsers';
  const numbersOf = async (query: object, client = admin) =>
    (await ok(client.get(`/api/v1/cards/facets?${new URLSearchParams({ facets: 'type', ...query })}`)))
      .numbers;
  expect(await numbersOf({})).toBeUndefined();
  await ok(admin.patch(`/api/v1/cards/${one}`, { attributes: { numberOfUsers: 10 } }));
  await ok(admin.patch(`/api/v1/cards/${two}`, { attributes: { numberOfUsers: 5 } }));
  const [quality, users] = await numbersOf({ type: 'Application', numbers: fields });
  expect(users).toEqual({ field: 'attributes.numberOfUsers', count: 2, sum: 15, average: 7.5 });
  expect(quality).toMatchObject({ field: 'data_quality', count: 3 });
  const found = await numbersOf({ type: 'Application', search: 'two', numbers: fields });
  expect(found[1]).toMatchObject({ count: 1, sum: 5 });
  const none = await numbersOf({ type: 'ITComponent', numbers: 'attributes.numberOfUsers' });
  expect(none[0]).toMatchObject({ count: 0, sum: 0, average: null });

  const path = '/api/v1/cards/facets?facets=type&numbers=attributes.';
  const { body } = await admin.get(`${path}hostingType`);
  expect(body).toMatchObject({ status: 422, errors: [{ field: 'numbers', code: 'unknown_field' }] });
  await expectProblem(viewer.get(`${path}costTotalAnnual`), 403, 'costs.view');
});

it('counts all active cards like those of a filter that selects all, also beside archived ones', async () => {
  const away = await create('Application', 'Away');
  const spare = await create('ITComponent', 'Spare');
  const process = await create('BusinessProcess', 'Process');
  for (const target_id of [server, spare])
    await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: away, target_id });
  await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: three, target_id: spare });
  await admin.create('/api/v1/relations', { type: 'relAppSuccessor', source_id: one, target_id: two });
  await admin.create('/api/v1/relations', { type: 'relProcessToApp', source_id: process, target_id: away });
  await admin.create(`/api/v1/cards/${away}/tags`, [tag.id]);
  for (const id of [away, spare]) await ok(admin.post(`/api/v1/cards/${id}/archive`, {}));
  const filter = 'name is not empty';
  const lists = [
    ['tags'],
    ['relations.relAppToITC'],
    ['relations.relAppSuccessor'],
    ['relations.relProcessToApp', 'tags', 'type'],
  ];
  for (const list of lists) {
    for (const type of [undefined, 'Application', 'ITComponent', 'Application,ITComponent', 'Provider']) {
      const request = { facets: list.join(), ...(type && { type }) };
      expect([request, await facetsOf(request)]).toEqual([request, await facetsOf({ ...request, filter })]);
    }
  }
  expect(await facetsOf({ facets: 'relations.relAppToITC' })).toMatchObject({
    'relations.relAppToITC': { Server: 2, One: 1, Two: 1, Spare: 1, '-': 1 },
  });
});
