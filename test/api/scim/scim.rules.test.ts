import { roleWith } from '../../support/accounts.ts';
import { answered, expectProblem, ok, pluck } from '../../support/harness.ts';
import { PATCH, type Provisioned, patch, provisioned } from '../../support/scim.ts';

let { t, agent, roleOf, newUser } = {} as Provisioned;

({ t, agent, roleOf, newUser } = await provisioned());

afterAll(() => t.close());

test('a version that has passed is refused, and one that is current spares the answer', async () => {
  const id = await newUser('versions');
  const url = `/scim/v2/Users/${id}`;
  const { etag } = (await agent.get(url)).headers as { etag: string };
  await ok(agent.get(url, { 'if-none-match': etag }), 304);
  const rename = (name: string) => patch({ op: 'replace', path: 'displayName', value: name });
  expect((await answered(agent.patch(url, rename('One'), { 'if-match': etag }))).headers.etag).not.toBe(etag);
  await expectProblem(agent.patch(url, rename('Two'), { 'if-match': etag }), 412);
  await expectProblem(agent.delete(url, undefined, { 'if-match': etag }), 412);

  const group = await agent.post('/scim/v2/Groups', { displayName: 'Versions' });
  const groupUrl = `/scim/v2/Groups/${group.body.id}`;
  const join = patch({ op: 'add', path: 'members', value: [{ value: id }] });
  const current = { 'if-match': group.headers.etag! };
  await ok(agent.patch(groupUrl, join, current), 204);
  await expectProblem(agent.put(groupUrl, { displayName: 'Versions' }, current), 412);
});

test('what does not fit is refused in the words of RFC 7644', async () => {
  const id = await newUser('misfit');
  const url = `/scim/v2/Users/${id}`;
  const refusals: [unknown, string][] = [
    [patch({ op: 'replace', path: 'id', value: 'x' }), 'mutability'],
    [patch({ op: 'replace', path: 'groups', value: [] }), 'mutability'],
    [patch({ op: 'replace', path: 'colour', value: 'red' }), 'invalidPath'],
    [patch({ op: 'replace', path: 'emails[', value: 'x' }), 'invalidPath'],
    [patch({ op: 'replace', path: 'active', value: 'perhaps' }), 'invalidValue'],
    [patch({ op: 'replace', path: 'userName', value: '' }), 'invalidValue'],
    [patch({ op: 'remove', path: 'emails' }), 'invalidValue'],
    [patch({ op: 'replace', path: 'emails[type eq "work"].value', value: 'nowhere' }), 'invalidValue'],
    [patch({ op: 'replace', path: 'emails[type eq "home"].value', value: 'at@home.example' }), 'noTarget'],
    [patch({ op: 'remove' }), 'noTarget'],
    [patch({ op: 'move', path: 'userName' }), 'invalidSyntax'],
    [patch({ op: { toString: 1 }, path: 'userName' }), 'invalidSyntax'],
    [{ schemas: [PATCH] }, 'invalidSyntax'],
    [[], 'invalidValue'],
  ];
  for (const [body, scimType] of refusals) {
    const answer = await agent.patch(url, body);
    expect([answer.status, answer.body.scimType], JSON.stringify(body)).toEqual([400, scimType]);
  }
  expect((await agent.post('/scim/v2/Users', { displayName: 'Nobody' })).body.scimType).toBe('invalidValue');
  const odd = { userName: 'odd@org.example', emails: [{ value: 'odd@org.example', type: { toString: 2 } }] };
  expect((await agent.post('/scim/v2/Users', odd)).status).toBe(201);
  expect((await agent.post('/scim/v2/Users', { userName: 'no-address' })).body.scimType).toBe('invalidValue');
  await expectProblem(agent.get('/scim/v2/Users?page=1'), 400);
  await expectProblem(agent.get('/scim/v2/Users/not-an-id'), 404);
  const broken = await agent.request({ method: 'POST', url: '/scim/v2/Users', payload: '{' });
  expect([broken.status, broken.body.scimType]).toEqual([400, 'invalidSyntax']);

  const stranger = { value: '0199a3c4-5f10-7c3e-8a51-2f6f0e7d9b11' };
  const group = await agent.post('/scim/v2/Groups', { displayName: 'Misfits', members: [stranger] });
  expect([group.status, group.body.scimType]).toEqual([400, 'invalidValue']);
  const nested = { displayName: 'Misfits', members: [{ value: id, type: 'Group' }] };
  expect((await agent.post('/scim/v2/Groups', nested)).body.scimType).toBe('invalidValue');
  await ok(agent.post('/scim/v2/Groups', { displayName: 'Misfits' }), 201);
  const taken = await agent.post('/scim/v2/Groups', { displayName: 'MISFITS' });
  expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness']);
});

test('nobody without admin.users, and nobody gives a role that holds more than his own', async () => {
  const refused = await (await t.as('member')).get('/scim/v2/Users');
  expect(refused).toMatchObject({ status: 403, body: { status: '403', permission: 'admin.users' } });
  const anonymous = await t.anonymous.get('/scim/v2/Users');
  expect(anonymous.status).toBe(401);
  expect(anonymous.headers['www-authenticate']).toMatch(/^Bearer/);

  const keeper = await t.as(await roleWith(t, 'admin.users'), 'limited');
  const made = await keeper.create('/scim/v2/Users', { userName: 'climber@example.org' });
  const group = { displayName: 'Administrators', members: [{ value: made.id }] };
  await expectProblem(keeper.post('/scim/v2/Groups', group), 403);
  expect((await t.services.db('scim_groups').where({ display_name: 'Administrators' })).length).toBe(0);
  // nor takes over an account of somebody who holds more
  const admin = await t.as('admin', 'keeper');
  const takeOver = patch({ op: 'replace', path: 'emails', value: [{ value: 'mine@example.org' }] });
  await expectProblem(keeper.patch(`/scim/v2/Users/${admin.userId}`, takeOver), 403);
});

test('by what the provider finds an account is changed by those alone who hold what it holds', async () => {
  const keeper = await t.as(await roleWith(t, 'admin.users'), 'unlinked');
  const admin = await t.as('admin', 'keeper');
  const member = await newUser('linked.member');
  const replace = (path: string, value: unknown) => patch({ op: 'replace', path, value });
  for (const id of [admin.userId, member]) {
    const url = `/scim/v2/Users/${id}`;
    const before = (await agent.get(url)).body;
    for (const { status, body } of [
      await keeper.patch(url, replace('userName', 'somebody.else')),
      await keeper.patch(url, replace('externalId', 'e-1')),
      await keeper.put(url, { userName: before.userName, externalId: 'e-1' }),
    ])
      expect([status, body.permission]).toEqual([403, 'inventory.view']);
    expect((await agent.get(url)).body).toEqual(before);
    // what is the same changes nothing, and what links nothing is open
    const same = { userName: before.userName, externalId: before.externalId, displayName: 'Renamed' };
    await ok(keeper.put(url, same));
    await ok(agent.patch(url, replace('externalId', `e-${id}`)));
  }
  // the own account is not linked to another person either
  for (const path of ['userName', 'externalId'])
    await expectProblem(admin.patch('/scim/v2/Me', replace(path, 'the.director')), 409, 'conflict');
});

test('the last administrator stays one', async () => {
  const { db } = t.services;
  const last = (await t.as('admin', 'keeper')).userId;
  await db('users')
    .where({ role: 'admin', kind: 'person' })
    .whereNot({ id: last })
    .update({ is_active: false });
  await expectProblem(
    agent.patch(`/scim/v2/Users/${last}`, patch({ op: 'replace', path: 'active', value: false })),
    409,
  );
  await expectProblem(agent.delete(`/scim/v2/Users/${last}`), 409);

  const group = await agent.post('/scim/v2/Groups', {
    displayName: 'Administrators',
    members: [{ value: last }],
  });
  expect(await roleOf(last)).toBe('admin');
  await ok(agent.delete(`/scim/v2/Groups/${group.body.id}`), 204);
  expect(await roleOf(last)).toBe('admin');

  // with a second one the groups are followed
  const second = await newUser('second');
  const both = { displayName: 'Administrators', members: [{ value: last }, { value: second }] };
  const { id } = (await agent.post('/scim/v2/Groups', both)).body;
  expect(await roleOf(second)).toBe('admin');
  await agent.patch(`/scim/v2/Groups/${id}`, patch({ op: 'remove', path: `members[value eq "${last}"]` }));
  expect(await roleOf(last)).toBe('member');
  await agent.patch(`/scim/v2/Groups/${id}`, patch({ op: 'remove', path: 'members' }));
  expect(await roleOf(second)).toBe('admin');
});

test('a search answers what the list does, with its parameters in the body', async () => {
  await newUser('searched.one');
  await newUser('searched.two');
  const search = (body: unknown) => agent.post('/scim/v2/Users/.search', body);
  const listed = await agent.get(
    `/scim/v2/Users?filter=${encodeURIComponent('userName sw "searched."')}&attributes=userName&count=1&startIndex=2`,
  );
  const found = await search({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
    Filter: 'userName sw "searched."',
    attributes: ['userName'],
    count: 1,
    startIndex: 2,
    sortBy: 'userName',
  });
  expect([found.status, found.headers['content-type']]).toEqual([
    200,
    'application/scim+json; charset=utf-8',
  ]);
  expect(found.body).toEqual(listed.body);
  expect(found.body).toMatchObject({ totalResults: 2, itemsPerPage: 1 });
  await agent.post('/scim/v2/Groups', { displayName: 'Searched' });
  const groups = await agent.post('/scim/v2/Groups/.search', {
    filter: 'displayName eq "Searched"',
    excludedAttributes: ['members', 'meta'],
  });
  expect(groups.body.Resources.map((one: object) => Object.keys(one))).toEqual([
    ['schemas', 'id', 'displayName'],
  ]);
  const refused = [
    { filter: 'userName eq' },
    { FILTER: 5 },
    { Count: 'ten' },
    { attributes: ['id'], excludedAttributes: ['id'] },
  ];
  for (const body of refused) expect([(await search(body)).status, body]).toEqual([400, body]);
});

test('a replace of selected members needs one of them', async () => {
  const [ada, bob, eve] = [await newUser('ada-m'), await newUser('bob-m'), await newUser('eve-m')];
  const created = await agent.post('/scim/v2/Groups', { displayName: 'Chosen', members: [{ value: ada }] });
  const url = `/scim/v2/Groups/${created.body.id}`;
  const replace = (who: string, by: string) => ({
    op: 'replace',
    path: `members[value eq "${who}"]`,
    value: [{ value: by }],
  });
  const members = async () => pluck((await agent.get(url)).body.members, 'value').sort();
  for (const who of [bob, 'nobody']) {
    const { status, body } = await agent.patch(url, patch(replace(who, eve)));
    expect([status, body.scimType]).toEqual([400, 'noTarget']);
  }
  const removed = [{ op: 'remove', path: `members[value eq "${ada}"]` }, replace(ada, bob)];
  expect((await agent.patch(url, patch(...removed))).body.scimType).toBe('noTarget');
  expect(await members()).toEqual([ada]);
  await ok(agent.patch(url, patch(replace(ada, bob))), 204);
  expect(await members()).toEqual([bob]);
  const twice = [{ op: 'add', path: 'members', value: [{ value: ada }] }, replace(ada, eve)];
  await ok(agent.patch(url, patch(...twice)), 204);
  expect(await members()).toEqual([bob, eve].sort());
  const group = (await agent.get(url)).body;
  expect(group.members[0].$ref).toMatch(/^https?:\/\/[^/]+\/scim\/v2\/Users\//);
  expect(created.headers.location).toBe(group.meta.location);
});

test('Me is the own user, where there is one', async () => {
  await expectProblem(agent.get('/scim/v2/Me'), 404);
  const person = await t.as('admin', 'provisioner');
  const me = await person.get('/scim/v2/Me');
  expect([me.status, me.headers.location, me.body.userName]).toEqual([
    200,
    me.body.meta.location,
    person.email,
  ]);
  const renamed = await person.patch(
    '/scim/v2/Me',
    patch({ op: 'replace', path: 'displayName', value: 'Myself' }),
    { 'if-match': me.headers.etag! },
  );
  expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Myself']);
  expect((await person.get(`/scim/v2/Users/${person.userId}`)).body).toEqual(renamed.body);
  await expectProblem(person.delete('/scim/v2/Me'), 405);
});

test('a change of what groups give is followed at once, and nobody gives more than he holds', async () => {
  const id = await newUser('follower');
  const outsider = await newUser('outsider');
  await agent.post('/scim/v2/Groups', { displayName: 'Reviewers', members: [{ value: id }] });
  const admin = await t.as('admin', 'boss');
  const { group_roles } = (await admin.get('/api/v1/settings/sso')).body;
  expect([await roleOf(id), await roleOf(outsider)]).toEqual(['member', 'member']);
  const set = (role: string, client = admin) =>
    client.patch('/api/v1/settings/sso', { group_roles: [{ group: 'Reviewers', role }, ...group_roles] });
  const changed = await set('viewer');
  expect([await roleOf(id), await roleOf(outsider)]).toEqual(['viewer', 'member']);
  const events = await t.services
    .db('events')
    .where({ request_id: changed.headers['x-request-id'] as string })
    .whereIn('event_type', ['settings.updated', 'user.updated']);
  expect(events.map(({ data }) => [data.id, data.changes.role?.new])).toEqual(
    expect.arrayContaining([[id, 'viewer']]),
  );
  await expectProblem(set('admin', await t.as(await roleWith(t, 'admin.settings'))), 403);
  expect(await roleOf(id)).toBe('viewer');
  await admin.patch('/api/v1/settings/sso', { group_roles });
  expect(await roleOf(id)).toBe('member');
});
