import { basic } from '../../support/accounts.ts';
import { ok, pluck } from '../../support/harness.ts';
import { NOBODY } from '../../support/writes.ts';
import { ask, createLandscape, follow, namesOf } from './odata.fixture.ts';
import type from './odata.protocol.type.json' with { type: 'json' };

const { t, admin, ids } = await createLandscape();

afterAll(() => t.close());

const refusal = async (path: string, options = {}, headers = {}) => {
  const { status, body } = await ask(admin, path, options, headers);
  return [status, body.error.code];
};

describe('documents', () => {
  it('list the sets', async () => {
    for (const path of ['', '/']) {
      const { status, headers, body } = await ask(admin, path);
      expect([status, headers['odata-version'], headers['content-type']]).toEqual([
        200,
        '4.01',
        'application/json; odata.metadata=minimal; charset=utf-8',
      ]);
      expect(body['@odata.context']).toMatch(/\/odata\/v4\/\$metadata$/);
      expect(body.value).toContainEqual({
        name: 'Application',
        title: 'Application',
        kind: 'EntitySet',
        url: expect.stringMatching(/\/odata\/v4\/Application$/),
      });
      expect(pluck(body.value, 'name')).toContain('RelAppToITC');
    }
  });

  it('describe the sets as XML and as JSON, typed from the metamodel', async () => {
    const xml = await ask(admin, '/$metadata');
    expect(xml.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(xml.text).toContain('<Property Name="id" Type="Edm.Guid" Nullable="false">');
    expect(xml.text).toContain('<Property Name="numberOfUsers" Type="Edm.Double">');
    expect(xml.text).toContain('<Property Name="costTotalAnnual" Type="Edm.Decimal" Scale="variable">');
    expect(xml.text).toContain('<Property Name="tags" Type="Collection(Edm.String)" Nullable="false">');
    expect(xml.text).toContain(
      '<NavigationProperty Name="RelAppToITC" Type="Collection(Estate.ITComponent)">',
    );
    expect(xml.text).toContain('Version="4.01"');
    const older = await ask(admin, '/$metadata', {}, { 'odata-maxversion': '4.0' });
    expect([older.headers['odata-version'], older.text.includes('Version="4.0"')]).toEqual(['4.0', true]);
    for (const asked of [
      await ask(admin, '/$metadata', { $format: 'json' }),
      await ask(admin, '/$metadata', {}, { accept: 'application/xml;q=0.1, application/json' }),
    ]) {
      expect(asked.body.Estate.Application).toMatchObject({
        $Kind: 'EntityType',
        $Key: ['id'],
        id: { $Type: 'Edm.Guid' },
        name: { '@Core.Description': 'Name' },
        lifecycle_active: { $Type: 'Edm.Date', $Nullable: true },
        created_at: { $Type: 'Edm.DateTimeOffset' },
        timeModel: { $Nullable: true, '@Validation.AllowedValues': expect.anything() },
        RelAppToITC: { $Kind: 'NavigationProperty', $Collection: true, $Type: 'Estate.ITComponent' },
      });
      expect(asked.body.Estate.EstateContainer['@Core.ODataVersions']).toBe('4.0,4.01');
    }
    expect(await refusal('/$metadata', { $format: 'atom' })).toEqual([406, 'not_acceptable']);
    expect(await refusal('/$metadata', { $format: 'constructor' })).toEqual([406, 'not_acceptable']);
  });

  it('open Power BI', async () => {
    const { headers, body } = await ask(admin, '/estate.pbids');
    expect(headers['content-disposition']).toBe('attachment; filename="estate.pbids"');
    const { details } = body.connections[0];
    expect(details).toEqual({ protocol: 'odata', address: { url: expect.stringMatching(/\/odata\/v4$/) } });
  });

  it('change with the metamodel, and names never clash', async () => {
    await admin.post('/api/v1/metamodel/types', type);
    await admin.post('/api/v1/cards', {
      type: 'application',
      name: 'One',
      attributes: { lifecycle_plan: 'none', several: ['a', 'b'] },
    });
    const answer = await ask(admin, '/Application_cards', { $filter: "several/any(s:s eq 'b')" });
    expect(answer.body.value).toMatchObject([
      { lifecycle_plan: null, attributes_lifecycle_plan: 'none', several: ['a', 'b'] },
    ]);
    expect((await ask(admin, '/$metadata')).text).toContain('Small &lt;letters&gt; &amp; &quot;quotes&quot;');
  });
});

describe('entities', () => {
  it('are read by their key, with an ETag', async () => {
    const { status, headers, body } = await ask(admin, `/Application(${ids.Alpha})`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      '@odata.context': expect.stringMatching(/\$metadata#Application\/\$entity$/),
      '@odata.etag': headers.etag,
      id: ids.Alpha,
      type: 'Application',
      name: 'Alpha',
      numberOfUsers: 10,
      costTotalAnnual: 1000.5,
      timeModel: 'invest',
      lifecycle_active: '2020-01-31',
      lifecycle_plan: null,
      tags: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const again = await ask(admin, `/Application(id=${ids.Alpha})`, {}, { 'if-none-match': headers.etag! });
    expect([again.status, again.text]).toEqual([304, '']);
    const byAlias = await ask(admin, '/Application(@k)', { '@k': ids.Alpha!, $select: 'name' });
    expect(byAlias.body.name).toBe('Alpha');
    await admin.patch(`/api/v1/cards/${ids.Alpha}`, { alias: 'changed' });
    await ok(ask(admin, `/Application(${ids.Alpha})`, {}, { 'if-none-match': headers.etag! }));
  });

  it('are not found, or malformed', async () => {
    for (const key of [NOBODY, ids.Archived, ids.Database])
      expect(await refusal(`/Application(${key})`)).toEqual([404, 'not_found']);
    expect(await refusal('/Application(1)')).toEqual([400, 'odata_invalid_query']);
    expect(await refusal(`/Application(${ids.Alpha})`, { $top: '1' })).toEqual([400, 'odata_invalid_query']);
    expect(await refusal('/Nope')).toEqual([404, 'not_found']);
    expect(await refusal('/$batch')).toEqual([501, 'odata_not_implemented']);
    for (const type of ['application/json', 'multipart/mixed; boundary=b']) {
      const headers = { 'content-type': type };
      const batch = await t.app.inject({ method: 'POST', url: '/odata/v4/$batch', headers, payload: '{}' });
      expect([batch.statusCode, batch.json().error.code]).toEqual([501, 'odata_not_implemented']);
    }
    expect(await refusal(`/Application(${NOBODY})/RelAppToITC`)).toEqual([404, 'not_found']);
    expect(await refusal(`/Application(${ids.Alpha})/nope`)).toEqual([404, 'not_found']);
  });

  it('have properties, bare values and related entities', async () => {
    const own = `/Application(${ids.Alpha})`;
    expect((await ask(admin, `${own}/name`)).body).toEqual({
      '@odata.context': expect.stringContaining(`#Application(${ids.Alpha})/name`),
      value: 'Alpha',
    });
    const value = await ask(admin, `${own}/numberOfUsers/$value`);
    expect([value.text, value.headers['content-type']]).toEqual(['10', 'text/plain; charset=utf-8']);
    await ok(ask(admin, `${own}/subtype`), 204);
    const related = await ask(admin, `${own}/RelAppToITC`, { $orderby: 'name desc' });
    expect(namesOf(related)).toEqual(['Server', 'Database']);
    expect((await ask(admin, `${own}/RelAppToITC/$count`, { $filter: "name eq 'Server'" })).text).toBe('1');
    expect((await ask(admin, `${own}/RelAppToITC/$ref`)).body.value).toHaveLength(2);
    expect((await ask(admin, `/BusinessCapability(${ids.Sales})/Parent`)).body.name).toBe('Core');
    await ok(ask(admin, `/BusinessCapability(${ids.Core})/Parent`), 204);
    expect((await ask(admin, '/Application/$count', { $search: 'alpha' })).text).toBe('1');
    const relation = await ask(admin, `/RelAppToITC(${ids['Alpha-Server']})`, {
      $expand: 'Source($select=name)',
    });
    const { body } = relation;
    expect(body).toMatchObject({ source_id: ids.Alpha, target_id: ids.Server, Source: { name: 'Alpha' } });
    // the other end of one is archived
    expect((await ask(admin, '/RelAppToITC/$count')).text).toBe('3');
  });
});

it('headers select the protocol version and the amount of metadata', async () => {
  const path = `/Application(${ids.Alpha})`;
  const none = await ask(admin, path, { $select: 'name', $format: 'application/json;odata.metadata=none' });
  expect(none.body).toEqual({ name: 'Alpha' });
  const full = await ask(
    admin,
    path,
    { $select: 'costTotalAnnual' },
    { accept: 'application/json;metadata=full' },
  );
  expect(full.body).toMatchObject({
    '@odata.type': '#Estate.Application',
    'costTotalAnnual@odata.type': '#Decimal',
    'RelAppToITC@odata.navigationLink': expect.stringContaining(`Application(${ids.Alpha})/RelAppToITC`),
  });
  const exact = await ask(admin, path, {}, { accept: 'application/json;IEEE754Compatible=true' });
  expect(exact.body.costTotalAnnual).toBe('1000.5');
  expect(await refusal(path, {}, { 'odata-maxversion': '3.0' })).toEqual([400, 'odata_invalid_query']);
  expect(await refusal(path, {}, { accept: 'application/atom+xml' })).toEqual([406, 'not_acceptable']);
  expect(await refusal(path, {}, { isolation: 'snapshot' })).toEqual([412, 'precondition_failed']);
});

it('headers let spreadsheets in with a token as password', async () => {
  const { body } = await admin.post('/api/v1/tokens', {
    name: 'Excel',
    scopes: ['inventory.view', 'inventory.export'],
  });
  await ok(t.anonymous.get('/odata/v4/Application?$top=1', basic('anything', body.token)));
  const refused = await t.anonymous.get('/odata/v4/Application');
  expect([refused.status, refused.headers['www-authenticate'], refused.body.error.code]).toEqual([
    401,
    'Bearer realm="estate", Basic realm="estate"',
    'unauthorized',
  ]);
});

describe('pages', () => {
  const walk = async (options: Record<string, string>, between?: () => Promise<unknown>) => {
    const names: string[] = [];
    let answer = await ask(admin, '/Application', options, { prefer: 'odata.maxpagesize=2' });
    expect(answer.headers['preference-applied']).toBe('odata.maxpagesize=2');
    for (;;) {
      names.push(...namesOf(answer));
      const next = answer.body['@odata.nextLink'];
      if (next === undefined) return names;
      await between?.();
      answer = await follow(admin, next, { prefer: 'maxpagesize=2' });
      expect(answer.status).toBe(200);
    }
  };

  it('lead through the whole set, in any order', async () => {
    for (const options of [
      {},
      { $orderby: 'numberOfUsers' },
      { $orderby: 'numberOfUsers desc' },
      { $orderby: 'timeModel desc,name' },
      { $orderby: 'lifecycle_active,created_at desc' },
      { $orderby: "name eq 'Beta',id" },
      { $orderby: 'RelAppToITC/$count' },
      { $orderby: 'true,null eq null desc' },
    ])
      expect((await walk(options as Record<string, string>)).sort()).toEqual([
        'Alpha',
        'Beta',
        'Epsilon',
        "Gamma's",
        'delta',
      ]);
    expect(await walk({ $orderby: 'name', $skip: '1', $top: '3' })).toEqual(['Beta', 'delta', 'Epsilon']);
  });

  it('are the same in one piece and in many', async () => {
    const cards = Array.from({ length: 420 }, (_, n) => ({
      row_index: n + 1,
      type: 'Organization',
      name: `Branch ${n}`,
    }));
    await ok(admin.post('/api/v1/cards/bulk-create', { cards }));
    const options = { $orderby: 'name desc', $expand: 'Children' };
    const whole = await ask(admin, '/Organization', options);
    expect(namesOf(whole).sort()).toEqual(cards.map(({ name }) => name).sort());
    let answer = await ask(admin, '/Organization', options, { prefer: 'maxpagesize=249' });
    const walked = [...answer.body.value];
    for (let next = answer.body['@odata.nextLink']; next; next = answer.body['@odata.nextLink']) {
      answer = await follow(admin, next, { prefer: 'maxpagesize=249' });
      walked.push(...answer.body.value);
    }
    expect(walked).toEqual(whole.body.value);
  });

  it('show each row once while others are written', async () => {
    let n = 0;
    const names = await walk({}, async () => {
      n += 1;
      await admin.post('/api/v1/cards', { type: 'Application', name: `Late ${n}` });
      await admin.patch(`/api/v1/cards/${ids.Beta}`, { alias: `changed ${n}` });
      if (n > 5) throw new Error('no end');
      if (n === 2) {
        const late = await ask(admin, '/Application', {
          $filter: "startswith(name,'Late')",
          $select: 'id,name',
        });
        for (const { id } of late.body.value) await admin.delete(`/api/v1/cards/${id}`);
      }
    });
    const known = names.filter((name) => !name.startsWith('Late'));
    expect(known.sort()).toEqual(['Alpha', 'Beta', 'Epsilon', "Gamma's", 'delta']);
    await t.services.db('cards').where('name', 'like', 'Late %').delete();
  });

  it('show each row that does not change once in any order, while others move in it', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `Still ${n}`);
    const attributes = (n: number) => ({ numberOfUsers: n % 3, ...(n % 4 ? { timeModel: 'invest' } : {}) });
    const cards = names.map((name, n) => ({ type: 'Application', name, attributes: attributes(n) }));
    for (const body of cards) await admin.post('/api/v1/cards', body);
    const movers: string[] = [];
    for (const name of ['Mover 1', 'Mover 2'])
      movers.push((await admin.post('/api/v1/cards', { type: 'Application', name })).body.id);
    for (const options of [
      { $orderby: 'numberOfUsers' },
      { $orderby: 'timeModel desc,numberOfUsers desc' },
      { $orderby: 'name', $filter: 'numberOfUsers ne 1' },
      { $filter: 'numberOfUsers lt 2' },
    ] as Record<string, string>[]) {
      let n = 0;
      const shown = await walk({ $select: 'name', ...options }, async () => {
        n += 1;
        // from one end of the order to the other, in front of the page and behind it; one comes, and one goes
        await t.services
          .db('cards')
          .insert({ type: 'Application', name: `Passing ${n}`, attributes: { numberOfUsers: n % 5 } });
        await t.services
          .db('cards')
          .where({ name: `Passing ${n - 1}` })
          .delete();
        for (const [at, id] of movers.entries()) {
          const body = {
            name: `${(n + at) % 2 ? 'A' : 'z'} mover ${at} ${n}`,
            attributes: { numberOfUsers: (n + at) % 2 ? -1 : 9 },
          };
          await ok(admin.patch(`/api/v1/cards/${id}`, body));
        }
        if (n > 30) throw new Error('no end');
      });
      await t.services.db('cards').where('name', 'like', 'Passing %').delete();
      const still = shown.filter((name) => name.startsWith('Still')).sort();
      const asked = cards.filter((card) => {
        if (options.$filter === 'numberOfUsers lt 2') return card.attributes.numberOfUsers < 2;
        return options.$filter === undefined || card.attributes.numberOfUsers !== 1;
      });
      expect(still, JSON.stringify(options)).toEqual(asked.map(({ name }) => name).sort());
    }
    await t.services.db('cards').whereIn('id', movers).orWhere('name', 'like', 'Still %').delete();
  });

  it('are bound to their query', async () => {
    const first = await ask(admin, '/Application', {}, { prefer: 'maxpagesize=2' });
    const token = new URL(first.body['@odata.nextLink']).searchParams.get('$skiptoken')!;
    for (const options of [
      { $filter: "name ne ''", $skiptoken: token },
      { $skiptoken: 'x' },
      { $skiptoken: token, $deltatoken: 'y' },
    ])
      expect(await refusal('/Application', options)).toEqual([400, 'odata_invalid_query']);
    expect(await refusal('/ITComponent', { $skiptoken: token })).toEqual([400, 'odata_invalid_query']);
  });
});
