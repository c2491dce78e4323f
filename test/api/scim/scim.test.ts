import { eventsOf } from '../../support/accounts.ts';
import { answered, expectProblem, ok, pluck } from '../../support/harness.ts';
import { GROUP, type Provisioned, patch, provisioned, USER } from '../../support/scim.ts';

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

let { t, agent, filtered, roleOf, newUser } = {} as Provisioned;

({ t, agent, filtered, roleOf, newUser } = await provisioned());

afterAll(() => t.close());

test('a session of Microsoft Entra ID: look for, create, change, deactivate, delete', async () => {
  // the test of the connection
  const none = await answered(filtered('Users', 'userName eq "c0ffee00-1234"'));
  expect(none.headers['content-type']).toMatch(/^application\/scim\+json/);
  expect(none.body).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: 0,
    startIndex: 1,
    itemsPerPage: 0,
    Resources: [],
  });

  const created = await agent.post('/scim/v2/Users', {
    schemas: [USER, ENTERPRISE],
    externalId: '0a21f0f2-8d2a',
    userName: 'Test_User_ab6490ee@testuser.example',
    active: true,
    displayName: 'Terry Test',
    emails: [{ primary: true, type: 'work', value: 'terry@testuser.example' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'Terry Test', familyName: 'Test', givenName: 'Terry' },
    roles: [],
    [ENTERPRISE]: { department: 'Sales' },
  });
  expect(created.status, created.text).toBe(201);
  const { id, meta } = created.body;
  expect(created.headers.location).toBe(created.body.meta.location);
  expect(created.headers.etag).toBe(meta.version);
  expect(created.body).toMatchObject({
    schemas: [USER],
    externalId: '0a21f0f2-8d2a',
    userName: 'Test_User_ab6490ee@testuser.example',
    displayName: 'Terry Test',
    name: { formatted: 'Terry Test', familyName: 'Test', givenName: 'Terry' },
    active: true,
    emails: [{ value: 'terry@testuser.example', type: 'work', primary: true }],
    roles: [{ value: 'member', primary: true }],
    meta: {
      resourceType: 'User',
      location: expect.stringMatching(new RegExp(`^https?://[^/]+/scim/v2/Users/${id}$`)),
    },
  });
  const [told] = (await eventsOf(t, 'user.created')).filter(({ data }) => data.id === id);
  expect(told.data.changes.email).toEqual({ old: null, new: 'terry@testuser.example' });
  const identity = (await eventsOf(t, 'user.provisioned')).filter(({ data }) => data.id === id);
  expect(identity.map(({ data }) => data.members)).toEqual([
    ['user_name', 'external_id', 'given_name', 'family_name'],
  ]);

  const found = await filtered('Users', 'userName eq "test_user_AB6490ee@testuser.example"');
  expect(pluck(found.body.Resources, 'id')).toEqual([id]);
  expect((await agent.get(`/scim/v2/Users/${id}`)).body).toEqual(created.body);

  const changed = await ok(
    agent.patch(
      `/scim/v2/Users/${id}`,
      patch(
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@testuser.example' },
        { op: 'Replace', path: 'name.familyName', value: 'Newname' },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
        { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Marketing' },
      ),
    ),
  );
  expect(changed.emails[0].value).toBe('updated@testuser.example');
  expect(changed.name).toMatchObject({ givenName: 'Terry', familyName: 'Newname' });

  const renamed = await agent.patch(
    `/scim/v2/Users/${id}`,
    patch({
      op: 'replace',
      value: {
        displayName: 'Terry N.',
        'name.givenName': 'T.',
        'emails[type eq "work"].value': 'tn@testuser.example',
      },
    }),
  );
  expect(renamed.body).toMatchObject({
    displayName: 'Terry N.',
    name: { givenName: 'T.' },
    emails: [{ value: 'tn@testuser.example' }],
  });

  const off = await agent.patch(
    `/scim/v2/Users/${id}`,
    patch({ op: 'Replace', path: 'active', value: 'False' }),
  );
  expect(off.body.active).toBe(false);
  expect((await filtered('Users', `id eq "${id}" and active eq false`)).body.totalResults).toBe(1);

  await ok(agent.delete(`/scim/v2/Users/${id}`), 204);
  const gone = await agent.get(`/scim/v2/Users/${id}`);
  expect(gone.status).toBe(404);
  expect(gone.body).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '404',
    detail: `There is no user ${id}.`,
  });
  await expectProblem(agent.delete(`/scim/v2/Users/${id}`), 404);
});

test('a session of Microsoft Entra ID with groups: members come and go, and their roles follow', async () => {
  const [ada, bob] = [await newUser('entra-ada'), await newUser('entra-bob')];
  const { id } = await ok(
    agent.post('/scim/v2/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3',
      displayName: 'Readers',
      members: [],
      meta: { resourceType: 'Group' },
    }),
    201,
  );
  const found = await filtered('Groups', 'displayName eq "readers"', '&excludedAttributes=members');
  expect(found.body.Resources).toMatchObject([{ id, displayName: 'Readers' }]);

  const url = `/scim/v2/Groups/${id}`;
  await ok(
    agent.patch(
      url,
      patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: ada }, { value: bob }] }),
    ),
    204,
  );
  expect(await roleOf(ada)).toBe('member');
  // the settings name the group by its id at the provider
  await agent.patch(url, patch({ op: 'Replace', path: 'externalId', value: 'b5f2-viewers' }));
  expect([await roleOf(ada), await roleOf(bob)]).toEqual(['viewer', 'viewer']);
  const roles = (await eventsOf(t, 'user.updated')).filter(({ data }) => data.id === ada);
  expect(roles.at(-1).data.changes.role).toEqual({ old: 'member', new: 'viewer' });

  await agent.patch(url, patch({ op: 'Remove', path: 'members', value: [{ value: ada }] }));
  await agent.patch(url, patch({ op: 'Replace', value: { id, displayName: 'Renamed' } }));
  const read = await agent.get(url);
  expect(read.body).toMatchObject({ displayName: 'Renamed', members: [{ value: bob, type: 'User' }] });
  expect([await roleOf(ada), await roleOf(bob)]).toEqual(['member', 'viewer']);
  expect((await agent.get(`/scim/v2/Users/${bob}`)).body.groups).toEqual([
    {
      value: id,
      $ref: expect.stringMatching(new RegExp(`^https?://[^/]+/scim/v2/Groups/${id}$`)),
      display: 'Renamed',
      type: 'direct',
    },
  ]);
  expect((await filtered('Groups', `id eq "${id}" and members eq "${bob}"`)).body.totalResults).toBe(1);
  expect((await filtered('Users', `groups[value eq "${id}"]`)).body.Resources).toMatchObject([{ id: bob }]);

  const memberships = async (type: string) =>
    (await eventsOf(t, type)).filter(({ data }) => data.group_id === id).map(({ data }) => data.user_id);
  await ok(agent.delete(url), 204);
  expect(await roleOf(bob)).toBe('member');
  expect((await memberships('scim_group_member.created')).sort()).toEqual([ada, bob].sort());
  expect(await memberships('scim_group_member.deleted')).toEqual([ada, bob]);
});

test('a session of Okta: people by PUT, groups pushed by PATCH', async () => {
  const missing = await filtered('Users', 'userName eq "isaac@example.org"', '&startIndex=1&count=100');
  expect(missing.body).toMatchObject({ totalResults: 0, startIndex: 1 });
  const person = {
    schemas: [USER],
    userName: 'isaac@example.org',
    name: { givenName: 'Isaac', familyName: 'Brock' },
    emails: [{ primary: true, value: 'isaac@example.org', type: 'work' }],
    displayName: 'Isaac Brock',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  };
  const created = await ok(agent.post('/scim/v2/Users', person), 201);
  const { id } = created;
  const again = await agent.post('/scim/v2/Users', { ...person, userName: 'ISAAC@example.org' });
  expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness', status: '409' } });

  const put = await ok(
    agent.put(`/scim/v2/Users/${id}`, {
      ...created,
      name: { givenName: 'Zac', familyName: 'Brock' },
      displayName: 'Zac Brock',
    }),
  );
  expect(put).toMatchObject({ displayName: 'Zac Brock', name: { givenName: 'Zac' } });
  // what a PUT leaves out goes, but for the state and the address
  const bare = await agent.put(`/scim/v2/Users/${id}`, { schemas: [USER], userName: 'isaac@example.org' });
  expect(bare.body).not.toHaveProperty('externalId');
  expect(bare.body.name).not.toHaveProperty('givenName');
  expect(bare.body).toMatchObject({ active: true, emails: [{ value: 'isaac@example.org' }] });

  const off = await agent.patch(`/scim/v2/Users/${id}`, patch({ op: 'replace', value: { active: false } }));
  expect(off.body.active).toBe(false);
  await agent.patch(`/scim/v2/Users/${id}`, patch({ op: 'replace', value: { active: true } }));

  const group = await agent.post('/scim/v2/Groups', { schemas: [GROUP], displayName: 'Architects' });
  const url = `/scim/v2/Groups/${group.body.id}`;
  const members = patch(
    { op: 'remove', path: `members[value eq "${id}"]` },
    { op: 'add', path: 'members', value: [{ value: id, display: 'isaac@example.org' }] },
  );
  await ok(agent.patch(url, members), 204);
  expect(await roleOf(id)).toBe('bpm_admin');
  const shown = await ok(
    agent.patch(`${url}?attributes=members`, patch({ op: 'replace', path: 'members', value: [] })),
  );
  expect(shown).toEqual({ schemas: [GROUP], id: group.body.id });
  expect(await roleOf(id)).toBe('member');
  await agent.put(url, { schemas: [GROUP], displayName: 'Architects', members: [{ value: id }] });
  expect((await agent.get(url)).body.members).toMatchObject([{ value: id, display: 'Zac Brock' }]);
  await ok(agent.delete(url), 204);
});

test('says what is there, and what is not', async () => {
  expect((await agent.get('/scim/v2/ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    filter: { supported: true, maxResults: 200 },
    sort: { supported: false },
    etag: { supported: true },
  });
  expect(pluck((await agent.get('/scim/v2/ResourceTypes')).body.Resources, 'id')).toEqual(['User', 'Group']);
  expect((await agent.get('/scim/v2/ResourceTypes/Group')).body.endpoint).toBe('/Groups');
  expect((await agent.get('/scim/v2/Schemas')).body.totalResults).toBe(2);
  expect((await agent.get(`/scim/v2/Schemas/${USER}`)).body.name).toBe('User');
  expect((await agent.get('/scim/v2/Schemas/urn:other')).body.status).toBe('404');
  await expectProblem(agent.post('/scim/v2/Bulk', {}), 501, 'scim_not_implemented');
  const elsewhere = await agent.post('/scim/v2/Elsewhere', {});
  expect(elsewhere.status).toBe(404);
  expect(elsewhere.headers['content-type']).toMatch(/scim\+json/);
});

test('filters, pages and cuts', async () => {
  const ids = [await newUser('filter-one'), await newUser('filter-two'), await newUser('filter-three')];
  await agent.patch(`/scim/v2/Users/${ids[0]}`, patch({ op: 'add', path: 'externalId', value: 'Ext-1' }));
  const base = 'userName sw "filter-"';
  const found = async (filter: string) => {
    const body = await ok(filtered('Users', `${base} and (${filter})`));
    return body.Resources.map((user: { id: string }) => ids.indexOf(user.id));
  };
  expect(await found('userName co "TWO"')).toEqual([1]);
  expect(await found('emails.value ew "three@example.org" or externalId eq "Ext-1"')).toEqual([0, 2]);
  expect(await found('externalId eq "ext-1"')).toEqual([]);
  expect(await found('externalId pr')).toEqual([0]);
  expect(await found('not (externalId pr)')).toEqual([1, 2]);
  expect(await found('externalId ne "Ext-1"')).toEqual([1, 2]);
  expect(await found('emails[type eq "work" and value co "one"]')).toEqual([0]);
  expect(await found('emails[type eq "home"]')).toEqual([]);
  expect(await found('active eq "True" and groups pr')).toEqual([]);
  expect(await found(`${USER}:displayName gt "filter-p"`)).toEqual([1, 2]);
  expect(await found('meta.lastModified ge "2020-01-01T00:00:00Z"')).toEqual([0, 1, 2]);
  expect(await found('meta.created lt "2020-01-01T00:00:00+01:00"')).toEqual([]);
  expect(
    await found(
      `meta.lastModified eq "${(await agent.get(`/scim/v2/Users/${ids[1]}`)).body.meta.lastModified}" and id eq "${ids[1]}"`,
    ),
  ).toEqual([1]);

  const page = await filtered('Users', base, '&startIndex=2&count=1&attributes=userName,emails.value');
  expect(page.body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
  expect(page.body.Resources).toEqual([
    {
      schemas: [USER],
      id: ids[1],
      userName: 'filter-two@example.org',
      emails: [{ value: 'filter-two@example.org' }],
    },
  ]);
  const counted = await filtered('Users', base, '&startIndex=-5&count=-1');
  expect(counted.body).toMatchObject({ totalResults: 3, startIndex: 1, Resources: [] });
  const cut = await agent.get(`/scim/v2/Users/${ids[0]}?excludedAttributes=meta,name.formatted,id`);
  expect(Object.keys(cut.body)).toEqual([
    'schemas',
    'id',
    'externalId',
    'userName',
    'displayName',
    'name',
    'active',
    'emails',
    'roles',
  ]);
  expect(cut.body.name).toEqual({});
  for (const filter of [
    'userName',
    'userName eq',
    'colour eq "red"',
    'constructor pr',
    'userName eq 5',
    'active gt true',
    'meta.created eq "yesterday"',
    'meta.created gt "0001-01-01T00:00:00+05:00"',
    'meta.created lt "9999-12-31T23:59:59-05:00"',
    'emails[groups[value eq "1"]]',
    `${'('.repeat(60)}userName pr${')'.repeat(60)}`,
    `userName eq "${'\n'.repeat(60)}`,
  ]) {
    const { status, body } = await filtered('Users', filter);
    expect([status, body.scimType], filter).toEqual([400, 'invalidFilter']);
  }
});
