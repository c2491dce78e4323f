import { expectProblem, ok, pluck } from '../../support/harness.ts';
import { ask, createLandscape, namesOf } from './odata.fixture.ts';
import refusals from './odata.query.refusals.json' with { type: 'json' };

const { t, admin, ids } = await createLandscape();
const viewer = await t.as('viewer');

afterAll(() => t.close());

const filtered = async (filter: string, more: Record<string, string> = {}) => {
  const answer = await ask(admin, '/Application', { $filter: filter, $orderby: 'name', ...more });
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return namesOf(answer);
};
const refusal = async (options: Record<string, string>, path = '/Application', client = admin) => {
  const { status, body } = await ask(client, path, options);
  return [status, body.error.code, body.error.innererror.position ?? body.error.target];
};

describe('$filter', () => {
  test.each<[string, string[]]>([
    ["name eq 'Alpha'", ['Alpha']],
    ["name eq 'Gamma''s'", ["Gamma's"]],
    ["NAME EQ 'Alpha'".replace('NAME', 'name'), ['Alpha']],
    ['numberOfUsers gt 10', ['Beta', "Gamma's"]],
    ['numberOfUsers ge 10 and numberOfUsers lt 3000', ['Alpha', 'Beta']],
    ['numberOfUsers eq null', ['delta', 'Epsilon']],
    ['numberOfUsers ne null and not (numberOfUsers gt 100)', ['Alpha']],
    ['not (numberOfUsers gt 100)', ['Alpha', 'delta', 'Epsilon']],
    ['numberOfUsers ne 10', ['Beta', 'delta', 'Epsilon', "Gamma's"]],
    ["timeModel in ('invest','tolerate')", ['Alpha', 'Beta', 'Epsilon']],
    ["timeModel in ('invest',null) and numberOfUsers ne null", ['Alpha', "Gamma's"]],
    ["timeModel eq 'invest' or name eq 'delta'", ['Alpha', 'delta', 'Epsilon']],
    ["contains(name,'lpha')", ['Alpha']],
    ["contains(tolower(description),'ÉMILE')", []],
    ["contains(tolower(description),'émile')", ["Gamma's"]],
    ["startswith(name,'A') eq true", ['Alpha']],
    ["not startswith(name,'A')", ['Beta', 'delta', 'Epsilon', "Gamma's"]],
    ["endswith(name,'ta')", ['Beta', 'delta']],
    ["toupper(alias) eq 'THE FIRST'", ['Alpha']],
    ["trim(concat(' ',name)) eq 'Beta'", ['Beta']],
    ['length(name) eq 4', ['Beta']],
    ["indexof(name,'e') eq 1", ['Beta', 'delta']],
    ["substring(name,1) eq 'eta'", ['Beta']],
    ["substring(name,-3,2) eq 'et'", ['Beta']],
    ['lifecycle_active ge 2021-01-01', ['delta']],
    ["lifecycle_active ge '2021-01-01'", ['delta']],
    ["lifecycle_active ge cast('2021-01-01',Edm.Date)", ['delta']],
    ["cast('none',Edm.Date) eq null and name eq 'Beta'", ['Beta']],
    [
      'year(lifecycle_active) eq 2020 and month(lifecycle_active) eq 1 and day(lifecycle_active) eq 31',
      ['Alpha'],
    ],
    [
      'created_at gt 2000-01-01T00:00:00Z and created_at le now() and year(created_at) gt 2000',
      ['Alpha', 'Beta', 'delta', 'Epsilon', "Gamma's"],
    ],
    ['hour(created_at) ge 24 or minute(created_at) gt 59 or second(created_at) gt 60', []],
    ['date(created_at) gt 9000-01-01', []],
    ['numberOfUsers add 5 eq 15', ['Alpha']],
    ['numberOfUsers mul 2 sub 10 eq 10', ['Alpha']],
    ['numberOfUsers div 3 lt 4 and numberOfUsers mod 3 eq 1', ['Alpha']],
    ['numberOfUsers divby 0 eq 1', []],
    ['7 div 2 eq 3 and -numberOfUsers lt -1000', ["Gamma's"]],
    ['costTotalAnnual eq 1000.5', ['Alpha']],
    [
      'round(costTotalAnnual) eq 1001 and floor(costTotalAnnual) eq 1000 and ceiling(costTotalAnnual) eq 1001',
      ['Alpha'],
    ],
    ['RelAppToITC/any()', ['Alpha', 'Beta']],
    ["RelAppToITC/any(c:c/name eq 'Server')", ['Alpha']],
    ["RelAppToITC/all(c:c/name eq 'Database')", ['Beta', 'delta', 'Epsilon', "Gamma's"]],
    ["RelAppToITC/any(c:contains(c/name,'a') and $it/name eq 'Beta')", ['Beta']],
    ['RelAppToITC/$count eq 2', ['Alpha']],
    ["RelAppToITC/$count($filter=name eq 'Database') eq 1", ['Alpha', 'Beta']],
    ["RelAppToITC_Relations/any(r:r/Target/name eq 'Server')", ['Alpha']],
    ["tags/any(t:t eq 'none') or tags/$count gt 0", []],
  ])('%s', async (filter, names) => expect(await filtered(filter)).toEqual(names));

  it('takes values from parameter aliases', async () => {
    expect(await filtered('name eq @n', { '@n': "'Beta'" })).toEqual(['Beta']);
    expect(await filtered('numberOfUsers eq @missing')).toEqual(['delta', 'Epsilon']);
  });

  it('finds entities by an id as GUID and as text, and by related ones of which there is at most one', async () => {
    expect(await filtered(`id eq ${ids.Beta}`)).toEqual(['Beta']);
    expect(await filtered(`id eq '${ids.Beta}'`)).toEqual(['Beta']);
    const children = await ask(admin, '/BusinessCapability', { $filter: "Parent/name eq 'Core'" });
    expect(namesOf(children)).toEqual(['Sales']);
    expect(namesOf(await ask(admin, '/BusinessCapability', { $filter: 'Parent eq null' }))).toEqual(['Core']);
    const lower = await ask(admin, '/BusinessCapability', { $filter: 'Parent ne null' });
    expect(namesOf(lower)).toEqual(['Sales']);
  });

  test.each<[string, number, string, unknown]>([
    ['name eq', 400, 'odata_invalid_query', 8],
    ["name eq 'a", 400, 'odata_invalid_query', 9],
    ['nope eq 1', 400, 'odata_invalid_query', 1],
    ["name eq 'a' and (nope eq 1)", 400, 'odata_invalid_query', 18],
    ['name eq 1', 400, 'odata_invalid_query', 6],
    ['name', 400, 'odata_invalid_query', 1],
    ['tags eq 1', 400, 'odata_invalid_query', 1],
    ['nofunction(name)', 400, 'odata_invalid_query', 1],
    ['length(name,name) eq 1', 400, 'odata_invalid_query', 1],
    ['lifecycle_active eq 2021-02-30', 400, 'odata_invalid_query', 21],
    [`${'('.repeat(60)}1 eq 1${')'.repeat(60)}`, 400, 'odata_invalid_query', 41],
    ['name has 1', 501, 'odata_not_implemented', 6],
    ["matchesPattern(name,'a')", 501, 'odata_not_implemented', 1],
    ["isof(name,'Edm.String')", 501, 'odata_not_implemented', 1],
    ["created_at add duration'P1D' gt now()", 501, 'odata_not_implemented', 16],
  ])('%s is refused', async (filter, ...expected) => {
    expect(await refusal({ $filter: filter })).toEqual(expected);
  });

  it('refuses what cannot be computed', async () => {
    const huge = `1${'0'.repeat(28)}e99`;
    const filter = `${Array.from({ length: 60 }, () => `1.0${huge.slice(29)}`).join(' mul ')} eq 1`;
    expect((await ask(admin, '/Application', { $filter: filter })).status).toBeLessThan(500);
  });
});

describe('the other options', () => {
  const names = async (options: Record<string, string>, path = '/Application') =>
    namesOf(await ask(admin, path, options));

  it.each([
    ['numberOfUsers,name desc', ['Epsilon', 'delta', 'Alpha', 'Beta', "Gamma's"]],
    ['numberOfUsers desc,name', ["Gamma's", 'Beta', 'Alpha', 'delta', 'Epsilon']],
    ['RelAppToITC/$count desc,length(name),name', ['Alpha', 'Beta', 'delta', 'Epsilon', "Gamma's"]],
  ])('order by %s, and null comes first, or last where the order descends', async ($orderby, expected) => {
    expect(await names({ $orderby })).toEqual(expected);
  });

  it('order by nothing else', async () => {
    expect(await refusal({ $orderby: 'name sideways' })).toEqual([400, 'odata_invalid_query', 6]);
    expect(await refusal({ $orderby: 'tags' })).toEqual([400, 'odata_invalid_query', 1]);
  });

  it('cut out a part and count the whole', async () => {
    const part = { $orderby: 'name', $top: '2', $skip: '1', $count: 'true' };
    const { body } = await ask(admin, '/Application', part);
    expect([body['@odata.count'], namesOf({ body } as never)]).toEqual([5, ['Beta', 'delta']]);
    expect(body).not.toHaveProperty('@odata.nextLink');
    const none = await ask(admin, '/Application', { $top: '0', $count: 'true' });
    expect([none.body['@odata.count'], none.body.value]).toEqual([5, []]);
    for (const [option, value] of [
      ['$top', '-1'],
      ['$skip', 'x'],
      ['$count', 'maybe'],
    ] as const)
      expect(await refusal({ [option]: value })).toEqual([400, 'odata_invalid_query', option]);
  });

  it('select properties', async () => {
    const options = { $select: 'name,numberOfUsers', $filter: "name eq 'Alpha'" };
    const { body } = await ask(admin, '/Application', options);
    expect(body['@odata.context']).toMatch(/\/odata\/v4\/\$metadata#Application\(name,numberOfUsers\)$/);
    const [one] = body.value;
    expect(Object.keys(one)).toEqual(['@odata.id', '@odata.etag', 'name', 'numberOfUsers']);
    expect(one['@odata.id']).toMatch(new RegExp(`/odata/v4/Application\\(${ids.Alpha}\\)$`));
    expect(await refusal({ $select: 'nope' })).toEqual([400, 'odata_invalid_query', '$select']);
    expect(await refusal({ $select: 'a/b' })).toEqual([501, 'odata_not_implemented', '$select']);
  });

  it.each([
    ['CUSTOMER ord', ['Alpha']],
    ['"customer orders"', ['Alpha']],
    ['"orders customer"', []],
    ['emile OR (alpha AND NOT billing)', ['Alpha', "Gamma's"]],
    ['NOT alpha', ['Beta', 'delta', 'Epsilon', "Gamma's"]],
  ])(
    'search words, beginnings of words and phrases, without minding case and accents: %s',
    async ($search, expected) => expect(await names({ $search, $orderby: 'name' })).toEqual(expected),
  );

  it('search umlauts in both spellings, as lists do', async () => {
    const { id } = await admin.create('/api/v1/cards', { type: 'Application', name: 'Störungsannahme' });
    for (const $search of ['Stoerung', 'Störung', 'storung', '"Stoerungsannahme"'])
      expect(await names({ $search })).toEqual(['Störungsannahme']);
    await admin.delete(`/api/v1/cards/${id}`);
  });

  it('search by nothing else', async () => {
    const unsupported = [501, 'odata_not_implemented', '$search'];
    expect(await refusal({ $search: '(alpha' })).toEqual([400, 'odata_invalid_query', 7]);
    expect(await refusal({ $search: 'a' }, '/RelAppToITC')).toEqual(unsupported);
  });

  it('expand related entities with options of their own', async () => {
    const { body } = await ask(admin, '/Application', {
      $orderby: 'name',
      $top: '2',
      $select: 'name',
      $expand:
        'RelAppToITC($select=name;$orderby=name desc;$count=true),RelAppToITC_Relations($top=1;$expand=Target($select=name))',
    });
    const [alpha, beta] = body.value;
    expect(body['@odata.context']).toContain(
      '#Application(name,RelAppToITC(name),RelAppToITC_Relations(Target(name)))',
    );
    expect(pluck(alpha.RelAppToITC, 'name')).toEqual(['Server', 'Database']);
    expect([alpha['RelAppToITC@odata.count'], beta['RelAppToITC@odata.count']]).toEqual([2, 1]);
    expect(alpha.RelAppToITC_Relations).toHaveLength(1);
    expect(beta.RelAppToITC_Relations[0].Target.name).toBe('Database');
    const part = await ask(admin, '/Application', {
      $filter: "name eq 'Alpha'",
      $expand: 'RelAppToITC($select=name;$orderby=name desc;$top=1;$skip=1)',
    });
    expect(pluck(part.body.value[0].RelAppToITC, 'name')).toEqual(['Database']);
    const filtered = await ask(admin, '/ITComponent', {
      $orderby: 'name',
      $expand: "RelAppToITC($filter=name ne 'Beta';$select=name;$skip=0)",
    });
    const related = pluck(filtered.body.value, 'RelAppToITC').map((apps) => pluck(apps, 'name'));
    expect(related).toEqual([['Alpha'], [], ['Alpha']]);
  });

  it('expand without anything else', async () => {
    const options = {
      $filter: "name eq 'Beta'",
      $select: 'RelAppToITC',
      $format: 'application/json;metadata=none',
    };
    const { body } = await ask(admin, '/Application', { ...options, $expand: 'RelAppToITC($select=name)' });
    expect(body).toEqual({ value: [{ RelAppToITC: [{ name: 'Database' }] }] });
  });

  it('expand what is above and below, and references', async () => {
    const { body } = await ask(admin, '/BusinessCapability', {
      $orderby: 'name',
      $select: 'name',
      $expand: 'Parent($select=name),Children/$ref',
    });
    const [core, sales] = body.value;
    expect([core.Parent, sales.Parent.name]).toEqual([null, 'Core']);
    expect(core.Children).toEqual([
      { '@odata.id': expect.stringContaining(`BusinessCapability(${ids.Sales})`) },
    ]);
  });

  test.each<[Record<string, string>, number, string]>(refusals as [Record<string, string>, number, string][])(
    '%j is refused',
    async (options, status, code) => expect((await refusal(options)).slice(0, 2)).toEqual([status, code]),
  );

  it('may be written without $ and in any case, but not twice', async () => {
    expect(await names({ FILTER: "name EQ 'Alpha' AND Contains(name,'a')", OrderBy: 'name' })).toEqual([
      'Alpha',
    ]);
    const twice = await admin.get('/odata/v4/Application?$top=1&top=2');
    expect([twice.status, twice.body.error.code]).toEqual([422, 'validation_failed']);
  });
});

it('rights leave cost values out of everything for those who may not see them', async () => {
  const { body } = await ask(viewer, '/Application', { $filter: "name eq 'Alpha'" });
  expect(body.value[0]).not.toHaveProperty('costTotalAnnual');
  expect((await viewer.get('/odata/v4/$metadata')).text).not.toContain('costTotalAnnual');
  expect((await admin.get('/odata/v4/$metadata')).text).toContain('costTotalAnnual');
  for (const [option, value] of [
    ['$filter', 'costTotalAnnual gt 1'],
    ['$orderby', 'costTotalAnnual'],
    ['$select', 'costTotalAnnual'],
    ['$expand', 'RelAppToITC($filter=costTotalAnnual gt 1)'],
    ['$filter', 'RelAppToITC/any(c:c/costTotalAnnual gt 1)'],
  ] as const)
    expect(await ask(viewer, '/Application', { [option]: value })).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden', innererror: { permission: 'costs.view' } } },
    });
  await expectProblem(ask(viewer, `/Application(${ids.Alpha})/costTotalAnnual`), 403);
});

it('rights leave relations out for those who may not see them', async () => {
  const exporter = await t.holding('inventory.view', 'inventory.export');
  expect((await exporter.get('/odata/v4/$metadata')).text).not.toContain('RelAppToITC');
  await ok(ask(exporter, '/Application', { $filter: "name eq 'Alpha'" }));
  for (const [path, options] of [
    ['/RelAppToITC', {}],
    ['/Application', { $expand: 'RelAppToITC' }],
  ] as const) {
    const answer = await ask(exporter, path, options);
    expect([answer.status, answer.body.error.innererror.permission]).toEqual([403, 'relations.view']);
  }
});
