import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, db, member, admin } = await openApp(['member', 'admin']);

const url = '/api/v1/eol';
const card = (values: object) => member.card({ type: 'ITComponent', ...values });
const names = (items: { name: string }[]) => items.map(({ name }) => name);

it('lists products and cycles page by page and by cursor', async () => {
  const { body } = await member.get(`${url}/products?search=linux&page_size=3`);
  expect(body.total).toBeGreaterThan(5);
  expect(body.items).toHaveLength(3);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { body: { items: { name: string }[]; next_cursor: string | null } } = await member.get(
      `${url}/products?cursor=${encodeURIComponent(cursor)}&page_size=20&fields=name`,
    );
    seen.push(...names(page.body.items));
    cursor = page.body.next_cursor;
  }
  expect(seen).toEqual(seen.toSorted());
  expect(seen).toContain('postgresql');

  const cycles = await member.get(`${url}/products/postgres`);
  const item = cycles.body.items[0];
  expect(item).toMatchObject({ cycle: '18', releaseDate: '2025-09-25', eol: '2030-11-14', lts: false });
  expect(pluck(cycles.body.items, 'releaseDate')).toEqual(
    pluck(cycles.body.items, 'releaseDate').toSorted().toReversed(),
  );
  expect((await member.get(`${url}/products/react`)).body.items[0].eol).toBe(false);
  await expectProblem(member.get(`${url}/products/no-such-thing`), 404);
  await expectProblem(member.get(`${url}/products/NO%20THING`), 422);
  await expectProblem(member.get(`${url}/products?sort_by=source`), 422);
});

it('finds products by names that are not quite theirs', async () => {
  const find = async (search: string, more = '') =>
    await member.get(`${url}/products/fuzzy?search=${encodeURIComponent(search)}${more}`);
  const { body } = await find('Oracle Linux 8');
  expect(body.items[0]).toEqual({ name: 'oracle-linux', label: 'Oracle Linux', score: 1 });
  expect(names((await find("Pôstgres' \\ ? 15")).body.items)[0]).toBe('postgresql');
  const scores = pluck(body.items, 'score');
  expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  const first = await find('microsoft windows server', '&cursor=&page_size=1');
  const second = await find(
    'microsoft windows server',
    `&cursor=${encodeURIComponent(first.body.next_cursor)}&page_size=1`,
  );
  expect(names([...first.body.items, ...second.body.items])).toEqual(['windows-server', 'windows']);
  await expectProblem(find('x'), 422);
  await expectProblem(find('  x '), 422);
  expect((await find('payroll')).body.items).toEqual([]);
});

it('proposes products by name, alias and maker, with the cycle that is told', async () => {
  const byName = await card({ name: 'PostgreSQL 15 billing' });
  const byAlias = await card({ name: 'DB-17', alias: 'MariaDB', attributes: { version: '10.6.12' } });
  const byMaker = await card({ name: 'Exchange 2019' });
  const nothing = await card({ name: 'Mainframe batch' });
  const clear = await card({ name: 'Red Hat Enterprise Linux 8' });
  await member.post('/api/v1/relations', {
    type: 'relProviderToITC',
    source_id: (await member.post('/api/v1/cards', { type: 'Provider', name: 'Microsoft' })).body.id,
    target_id: byMaker.id,
  });
  const search = async (query: string) => await member.post(`${url}/mass-search?${query}`);
  const { body } = await search('type_key=ITComponent&page_size=200');
  expect(body.total).toBe(5);
  const of = (id: string) => body.items.find((item: { card_id: string }) => item.card_id === id);
  const best = (id: string) => {
    const { eol_product, eol_cycle } = of(id).candidates[0];
    return [eol_product, eol_cycle];
  };
  expect(best(byName.id)).toEqual(['postgresql', '15']);
  expect(best(byAlias.id)).toEqual(['mariadb', '10.6']);
  expect(best(byMaker.id)).toEqual(['msexchange', '2019']);
  // not Redis, which begins like it
  expect(pluck(of(clear.id).candidates, 'eol_product')).toEqual(['rhel']);
  expect(of(nothing.id)).toEqual({
    card_id: nothing.id,
    card_name: 'Mainframe batch',
    card_type: 'ITComponent',
    current_eol_product: null,
    current_eol_cycle: null,
    candidates: [],
  });
  const linked = [{ card_id: byName.id, eol_product: 'postgresql', eol_cycle: '15' }];
  expect((await member.post(`${url}/mass-link`, linked)).body.linked).toBe(1);
  const rest = await search(
    'type_key=ITComponent&unlinked_only=true&fields=card_name,candidates&search=mainframe',
  );
  expect(rest.body.items).toEqual([{ card_name: 'Mainframe batch', candidates: [] }]);
  const again = await search(
    'type_key=ITComponent&search=billing&fields=current_eol_product,current_eol_cycle',
  );
  expect(again.body.items).toEqual([{ current_eol_product: 'postgresql', current_eol_cycle: '15' }]);
  for (const query of ['type_key=Nothing', 'type_key=Provider', '', 'type_key=ITComponent&fields=x'])
    expect((await search(query)).status, query).toBe(422);
});

it('links cards by the rules of a change, and reports each row that it refuses', async () => {
  const a = await card({ attributes: { version: '3.9' } });
  const b = await card({});
  const provider = (await member.post('/api/v1/cards', { type: 'Provider', name: randomUUID() })).body;
  await member.post(`/api/v1/cards/${a.id}/approval-status?action=approve`);
  const rows = [
    { card_id: a.id.toUpperCase(), eol_product: 'python', eol_cycle: '3.9' },
    { card_id: b.id, eol_product: 'python', eol_cycle: '3.99' },
    { card_id: a.id, eol_product: 'python', eol_cycle: '3.10' },
    { card_id: randomUUID(), eol_product: 'python', eol_cycle: '3.9' },
    { card_id: provider.id, eol_product: 'python', eol_cycle: '3.9' },
  ];
  const tried = await member.post(`${url}/mass-link?dry_run=true`, rows);
  const { body, headers } = await member.post(`${url}/mass-link`, rows);
  expect(tried.body).toEqual({ ...body, dry_run: true });
  expect(body).toMatchObject({ dry_run: false, linked: 1, unchanged: 0 });
  expect(pluck(body.errors, 'row_index', 'code')).toEqual([
    [1, 'unknown_cycle'],
    [2, 'duplicate'],
    [3, 'not_found'],
    [4, 'not_linked'],
  ]);
  const after = (await member.get(`/api/v1/cards/${a.id}`)).body;
  expect(after.attributes).toEqual({ version: '3.9', eol_product: 'python', eol_cycle: '3.9' });
  expect(after.lifecycle).toEqual(a.lifecycle);
  const [event] = await db('events').where({ position: headers['x-position'] });
  expect(event).toMatchObject({
    event_type: 'card.updated',
    card_id: a.id,
    data: {
      changes: {
        'attributes.eol_product': { old: null, new: 'python' },
        'attributes.eol_cycle': { old: null, new: '3.9' },
      },
    },
  });
  expect((await member.post(`${url}/mass-link`, rows.slice(0, 1))).body).toMatchObject({
    linked: 1,
    unchanged: 1,
  });
  await expectProblem(member.post(`${url}/mass-link`, []), 422);
  await expectProblem(member.post(`${url}/mass-link`, [{ ...rows[0], more: 1 }]), 422);

  const cleared = await member.patch(`/api/v1/cards/${a.id}`, {
    attributes: { eol_product: null, eol_cycle: null },
  });
  expect(cleared.body.attributes).toEqual({ version: '3.9' });
  await ok(member.get(`/api/v1/cards?filter=${encodeURIComponent('attributes.eol_product = "postgresql"')}`));
});

it('links only cards that the caller may change', async () => {
  const linker = await t.holding('inventory.view', 'eol.manage');
  const [own, other] = [await card({}), await card({})];
  await admin.create(`/api/v1/cards/${own.id}/stakeholders`, { user_id: linker.userId, role: 'responsible' });
  const rows = [other, own].map(({ id }) => ({ card_id: id, eol_product: 'python', eol_cycle: '3.9' }));
  const { body } = await linker.post(`${url}/mass-link`, rows);
  expect(body).toMatchObject({ linked: 1, errors: [{ row_index: 0, card_id: other.id, code: 'forbidden' }] });
  expect((await member.get(`/api/v1/cards/${other.id}`)).body.attributes).toEqual({});
  expect((await member.get(`/api/v1/cards/${own.id}`)).body.attributes.eol_product).toBe('python');
});

it('loads a document whole or not at all', async () => {
  const product = (name: string, eolFrom: unknown) => ({
    name,
    label: 'Kept Elsewhere',
    unheard_of: { of: 1 },
    releases: [{ name: '1', releaseDate: '2020-01-01', isEol: false, eolFrom, isEoas: true }],
  });
  const load = async (...result: object[]) =>
    await admin.post(`${url}/facts`, { schema_version: '1.2.0', total: 1, result });
  const loaded = await load(product('kept-elsewhere', '2030-01-01'), product('another', null));
  expect(loaded.body).toEqual({ products: 2, cycles: 2, changed: 2 });
  expect((await load(product('another', null))).body.changed).toBe(0);
  const bad = await load(product('another', '2031-01-01'), product('third', 'never'));
  expect(bad.status).toBe(422);
  expect(bad.body.errors).toEqual([
    expect.objectContaining({ field: 'result.1.releases.0.eolFrom', code: 'bad_facts' }),
  ]);
  await expectProblem(load(product('another', null), product('another', null)), 422);
  await expectProblem(load({ name: '../x', releases: [] }), 422);
  const item = (await member.get(`${url}/products/another`)).body.items[0];
  expect(item).toMatchObject({ eol: false, support: false });
  const first = (await member.get(`${url}/products?search=elsewhere`)).body.items[0];
  expect(first).toMatchObject({ source: 'file', link: null });
});

it('starts a refresh as a job', async () => {
  const started = await admin.post(`${url}/refresh`);
  expect(started.status).toBe(202);
  expect(started.headers.location).toBe(`/api/v1/jobs/${started.body.job_id}`);
  await expectProblem(member.post(`${url}/refresh`), 409, 'wrong_state');
  await expectProblem((await t.as('viewer')).post(`${url}/refresh`), 403, 'eol.manage');
});
