import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { costsRefreshProcessor } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import {
  answered,
  closeAfterAll,
  eventKinds,
  expectProblem,
  faults,
  ok,
  openApp,
  pluck,
} from '../../support/harness.ts';
import { until } from '../../support/until.ts';
import { merge } from '../cards/merge.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

closeAfterAll(await startWorkers(t.services, [costsRefreshProcessor]));

const year = new Date().getUTCFullYear();
const period = { period_start: `${year}-01-01`, period_end: `${year}-12-31` };
const cost = (amount: number, more: object = {}) => ({ kind: 'licence', ...period, amount, ...more });
const of = (id: string, what = 'cards') => `/api/v1/${what}/${id}/costs`;
const add = async (id: string, amount: number, more: object = {}, what = 'cards') =>
  (await admin.create(of(id, what), cost(amount, more))).id as string;
const annual = async (id: string, what = 'cards') =>
  (await admin.get(`/api/v1/${what}/${id}`)).body.attributes.costTotalAnnual;
const card = async (values: object = {}): Promise<string> => (await admin.card(values)).id;
const component = () => card({ type: 'ITComponent' });
const relation = async (source?: string, target?: string) =>
  (await admin.relate('relAppToITC', source ?? (await card()), target ?? (await component()))).id as string;

describe('a cost', () => {
  it('is added, read, listed, changed and deleted, with an event for each', async () => {
    const id = await card({ name: 'Harbour' });
    const position = await admin.position();
    const made = await ok(member.post(of(id), cost(1200, { description: 'Seats', external_id: 'X-1' })), 201);
    expect(made).toMatchObject({
      ...cost(1200),
      card_id: id,
      relation_id: null,
      currency: 'USD',
      converted_amount: 1200,
      description: 'Seats',
      external_id: 'X-1',
      card: { id, type: 'Application', name: 'Harbour' },
      relation: null,
    });
    const one = `/api/v1/costs/${made.id}`;
    const read = await member.get(one);
    expect(read.body).toEqual(made);
    expect((await member.get(of(id))).body.items).toEqual([made]);
    const listed = async (query: string) =>
      pluck((await admin.get(`/api/v1/costs?${query}`)).body.items, 'id').includes(made.id);
    expect(await listed('kind=licence&currency=USD&card_type=Application&search=seats')).toBe(true);
    expect(await listed(`from=${year}-12-31&to=${year}-01-01`)).toBe(true);
    expect(await listed(`from=${year + 1}-01-01`)).toBe(false);
    expect(await listed('kind=staff')).toBe(false);
    const match = { 'if-match': read.headers.etag! };
    const changed = await ok(member.patch(one, { amount: 600.5, description: null }, match));
    expect(changed).toMatchObject({ amount: 600.5, description: null });
    await expectProblem(member.patch(one, { amount: 1 }, match), 412, 'precondition_failed');
    expect((await ok(member.patch(one, { amount: 600.5 }))).amount).toBe(600.5);
    await ok(member.delete(one), 204);
    await expectProblem(member.get(one), 404, 'not_found');
    await expectProblem(member.patch(one, {}), 404, 'not_found');
    await expectProblem(member.delete(one), 404, 'not_found');
    const events = await admin.changes(position, 'cost');
    expect(eventKinds(events, 'cost')).toBe('created updated deleted');
    expect(events[0]!.data).toMatchObject({ id: made.id, card_name: 'Harbour' });
    expect(events[0]!.data.changes.amount).toEqual({ old: null, new: 1200 });
    expect((await admin.get(`/api/v1/cards/${id}/history`)).text).toContain('cost.deleted');
  });

  it('is refused where its values do not fit, and where there is no card', async () => {
    const id = await card();
    const fault = async (body: object) => await faults(admin.post(of(id), { ...cost(1), ...body }));
    expect(await fault({ period_end: `${year - 1}-12-31` })).toContain('period_end before_start');
    expect(await fault({ kind: 'beer' })).toContain('kind unknown_option');
    expect(await fault({ currency: 'CHF' })).toContain('currency no_exchange_rate');
    expect(await fault({ period_start: '0000-01-01' })).toContainEqual(
      expect.stringMatching(/^period_start /),
    );
    await expectProblem(admin.post(of(id), cost(1e12)), 422);
    await expectProblem(admin.post(of(randomUUID()), cost(1)), 404, 'not_found');
    await expectProblem(admin.post(of(randomUUID(), 'relations'), cost(1)), 404, 'not_found');
    await expectProblem(admin.get(of(randomUUID())), 404, 'not_found');
    await expectProblem(admin.get(of(randomUUID(), 'relations')), 404, 'not_found');
    const external_id = randomUUID();
    const taken = await add(id, 1, { external_id });
    const other = await add(id, 1);
    await expectProblem(admin.post(of(id), cost(1, { external_id })), 409, 'external_id_taken');
    await expectProblem(admin.patch(`/api/v1/costs/${other}`, { external_id }), 409, 'external_id_taken');
    expect((await admin.get(of(id))).body.total).toBe(2);
    expect(
      await faults(admin.patch(`/api/v1/costs/${taken}`, { period_start: `${year + 1}-01-01` })),
    ).toContain('period_end before_start');
  });

  it('is hidden from those who see no costs, and not written by them', async () => {
    const id = await card();
    const between = await relation(id);
    const position = await admin.position();
    const one = await add(id, 4711.5, { description: 'Seats 4711.5' });
    const other = await add(between, 4712.5, {}, 'relations');
    for (const url of [of(id), of(between, 'relations'), '/api/v1/costs']) {
      await expectProblem(viewer.get(url), 403, 'costs.view');
    }
    await expectProblem(viewer.get(`/api/v1/costs/${one}`), 403, 'costs.view');
    const events = await viewer.get(`/api/v1/changes?after=${position}`);
    expect(events.text).toContain('relation_cost.created');
    expect(events.text).not.toMatch(/471[12]\.5/);
    const history = await viewer.get(`/api/v1/cards/${id}/history`);
    expect(history.text).toContain('"cost.created"');
    expect(history.text).not.toMatch(/471[12]\.5/);
    const editor = await t.holding('inventory.view', 'inventory.edit', 'relations.view', 'relations.manage');
    await expectProblem(editor.post(of(id), cost(1)), 403, 'costs.view');
    await expectProblem(editor.delete(`/api/v1/costs/${one}`), 403, 'costs.view');
    await expectProblem(editor.patch(`/api/v1/costs/${other}`, { amount: 1 }), 403, 'costs.view');
    const reader = await t.holding('inventory.view', 'costs.view');
    await expectProblem(reader.get(of(between, 'relations')), 403, 'relations.view');
    await expectProblem(reader.get(`/api/v1/costs/${other}`), 403, 'relations.view');
    expect((await reader.get(`/api/v1/changes?after=${position}`)).text).not.toContain('relation_cost');
    expect(pluck((await reader.get('/api/v1/costs?page_size=200')).body.items, 'id')).not.toContain(other);
    // a role on the card shows its costs, and those of its relations
    await db('stakeholders').insert({ card_id: id, user_id: editor.userId, role: 'responsible' });
    expect((await editor.get(of(id))).body.items[0].amount).toBe(4711.5);
    expect((await editor.get(of(between, 'relations'))).body.items[0].amount).toBe(4712.5);
    expect((await editor.get(`/api/v1/costs/${one}`)).body.amount).toBe(4711.5);
    await ok(editor.patch(`/api/v1/costs/${other}`, { amount: 1 }));
  });

  it('of a relation does not name the other card in the history of those who see only one', async () => {
    const id = await card();
    const between = await relation(id, await card({ type: 'ITComponent', name: 'Unseen server' }));
    await add(between, 4713.5, {}, 'relations');
    const reader = await t.holding('relations.view');
    await db('stakeholders').insert({ card_id: id, user_id: reader.userId, role: 'responsible' });
    for (const url of [`/api/v1/cards/${id}/history`, '/api/v1/home?include=changes']) {
      const { text } = await answered(reader.get(url));
      expect(text).toContain('card.created');
      expect(text).not.toMatch(/Unseen|4713\.5/);
    }
  });
});

describe('the annual cost', () => {
  it('is the sum of the parts in the current fiscal year', async () => {
    const id = await card({ attributes: { costTotalAnnual: 77 } });
    const position = await admin.position();
    const first = await add(id, 1200);
    expect(await annual(id)).toBe(1200);
    const events = await admin.changes(position);
    expect(pluck(events, 'event_type')).toEqual(['card.updated', 'cost.created']);
    expect(events[0]!.data).toMatchObject({
      rolled_up: ['attributes.costTotalAnnual'],
      changes: { 'attributes.costTotalAnnual': { old: 77, new: 1200 } },
    });
    // half of two years of 365 days, whichever of them is a leap year
    const days = (of: number) => (of % 4 === 0 ? 366 : 365);
    const two = { period_end: `${year + 1}-12-31` };
    await add(id, 1000, two);
    const half = Math.round((100_000 * days(year)) / (days(year) + days(year + 1))) / 100;
    expect(await annual(id)).toBe(1200 + half);
    await add(id, 5000, { period_start: `${year - 1}-01-01`, period_end: `${year - 1}-12-31` });
    expect(await annual(id)).toBe(1200 + half);
    await admin.patch(`/api/v1/costs/${first}`, { amount: -200 });
    expect(await annual(id)).toBe(half - 200);
  });

  it('is only written by costs while there are any', async () => {
    const id = await card({ attributes: { costTotalAnnual: 5 } });
    const one = await add(id, 40);
    const url = `/api/v1/cards/${id}`;
    const write = (value: unknown) => admin.patch(url, { attributes: { costTotalAnnual: value } });
    await expectProblem(write(41), 409, 'costs_by_period', 'attributes.costTotalAnnual');
    await expectProblem(write(null), 409, 'costs_by_period', 'attributes.costTotalAnnual');
    const bulk = { ids: [id], updates: { attributes: { costTotalAnnual: 1 } } };
    await expectProblem(
      admin.patch('/api/v1/cards/bulk', bulk),
      409,
      'costs_by_period',
      'attributes.costTotalAnnual',
    );
    expect(await faults(admin.patch(url, { attributes: { costTotalAnnual: 41, beer: 1 } }))).toEqual(
      expect.arrayContaining(['attributes.costTotalAnnual costs_by_period']),
    );
    await ok(write(40));
    expect((await ok(admin.patch(url, { attributes: null }))).attributes).toEqual({ costTotalAnnual: 40 });
    await ok(admin.delete(`/api/v1/costs/${one}`), 204);
    expect(await annual(id)).toBeUndefined();
    await ok(write(41));
    expect(await annual(id)).toBe(41);
  });

  it('of a relation follows its own costs', async () => {
    const source = await card();
    const id = await relation(source);
    await ok(admin.patch(`/api/v1/relations/${id}`, { attributes: { costTotalAnnual: 5 } }));
    const position = await admin.position();
    const one = await add(id, 40, {}, 'relations');
    expect([await annual(id, 'relations'), await annual(source)]).toEqual([40, undefined]);
    const events = await admin.changes(position);
    expect(pluck(events, 'event_type')).toEqual(['relation.updated', 'relation_cost.created']);
    const write = admin.patch(`/api/v1/relations/${id}`, { attributes: { costTotalAnnual: 41 } });
    await expectProblem(write, 409, 'costs_by_period', 'attributes.costTotalAnnual');
    const cleared = await ok(admin.patch(`/api/v1/relations/${id}`, { attributes: null }));
    expect(cleared.attributes).toEqual({ costTotalAnnual: 40 });
    await ok(admin.delete(`/api/v1/costs/${one}`), 204);
    expect(await annual(id, 'relations')).toBeUndefined();
  });
});

describe('settings', () => {
  it('change annual costs by a job: exchange rates, currency and the start of the fiscal year', async () => {
    const set = (path: string, body: object) => ok(admin.patch(`/api/v1/settings/${path}`, body));
    await set('exchange-rates', { rates: [{ currency: 'CHF', rate: 1.1 }] });
    const id = await card();
    const between = await relation(id);
    const one = await add(id, 100, { currency: 'CHF' });
    await add(between, 10, { currency: 'CHF' }, 'relations');
    expect([await annual(id), await annual(between, 'relations')]).toEqual([110, 11]);
    const annualCosts = (expected: unknown[]) =>
      until(`annual costs of ${expected}`, async () =>
        isDeepStrictEqual([await annual(id), await annual(between, 'relations')], expected),
      );
    await set('exchange-rates', { rates: [{ currency: 'CHF', rate: 1.2 }] });
    await annualCosts([120, 12]);
    expect((await admin.get(`/api/v1/costs/${one}`)).body.converted_amount).toBe(120);
    await set('exchange-rates', { rates: [] });
    await annualCosts([undefined, undefined]);
    expect((await admin.get(`/api/v1/costs/${one}`)).body.converted_amount).toBeNull();
    await set('currency', { currency: 'CHF' });
    await annualCosts([100, 10]);
    const days = [`${year}-01-01`, `${year}-12-31`];
    await ok(admin.patch(`/api/v1/costs/${one}`, { period_end: days[0] }));
    await add(id, 7, { period_start: days[1] });
    // another fiscal year that contains today does not contain both days
    const month = new Date().getUTCMonth() + 1;
    await set('fiscal-year-start', { month: month === 1 ? 2 : month });
    const expected = month === 1 ? 100 : 7;
    await until(`an annual cost of ${expected}`, async () => (await annual(id)) === expected);
    await set('fiscal-year-start', { month: 1 });
    await set('currency', { currency: 'USD' });
  });

  it('are refused where they do not fit', async () => {
    const fault = (path: string, body: object) => faults(admin.patch(`/api/v1/settings/${path}`, body));
    const chf = { currency: 'CHF', rate: 1 };
    expect(await fault('exchange-rates', { rates: [{ ...chf, currency: 'XQX' }] })).toContain(
      'rates.0.currency unknown_currency',
    );
    expect(await fault('exchange-rates', { rates: [chf, chf] })).toContain('rates.1.currency duplicate');
    const kind = { key: 'a', label: 'A' };
    expect(await fault('cost-kinds', { kinds: [kind, kind] })).toContain('kinds.1.key duplicate');
    await expectProblem(admin.patch('/api/v1/settings/cost-kinds', { kinds: [] }), 422);
  });
});

describe('costs', () => {
  it('are undone with the annual cost before them, also by hand before there were any', async () => {
    const id = await card({ attributes: { costTotalAnnual: 5 } });
    await add(id, 10);
    const first = (await db('events').whereNotNull('batch_id').orderBy('position', 'desc').first()).batch_id;
    const other = await add(id, 20);
    expect(await annual(id)).toBe(30);
    // a later cost is no conflict with an earlier one
    await admin.undo(first);
    expect(await annual(id)).toBe(20);
    await ok(admin.delete(`/api/v1/costs/${other}`), 204);
    await admin.undo();
    expect(await annual(id)).toBe(20);
    await ok(admin.patch(`/api/v1/costs/${other}`, { amount: 25 }));
    await admin.undo();
    expect(await annual(id)).toBe(20);
    const fresh = await card({ attributes: { costTotalAnnual: 5 } });
    await add(fresh, 10);
    await admin.undo();
    expect(await annual(fresh)).toBe(5);
    const between = await relation();
    await ok(admin.patch(`/api/v1/relations/${between}`, { attributes: { costTotalAnnual: 5 } }));
    await add(between, 10, {}, 'relations');
    const position = await admin.position();
    await admin.undo();
    expect(await annual(between, 'relations')).toBe(5);
    expect(pluck(await admin.changes(position, 'relation_cost'), 'event_type')).toEqual([
      'relation_cost.deleted',
    ]);
  });

  it('move with a merge and come back with its undoing, those of folded relations too', async () => {
    const [survivor, gone, shared] = [
      await card({ attributes: { costTotalAnnual: 5 } }),
      await card(),
      await component(),
    ];
    await add(gone, 10);
    const kept = await relation(survivor, shared);
    const folded = await relation(gone, shared);
    await add(folded, 3, {}, 'relations');
    const merged = await ok(merge(admin, survivor, [gone]));
    expect(merged.moved).toMatchObject({ cost: 1 });
    expect([await annual(survivor), await annual(kept, 'relations')]).toEqual([10, 3]);
    await ok(admin.post(`/api/v1/card-merges/${merged.merge_id}/undo`));
    expect([await annual(survivor), await annual(gone)]).toEqual([5, 10]);
    expect([await annual(kept, 'relations'), await annual(folded, 'relations')]).toEqual([undefined, 3]);
    expect((await admin.get(of(folded, 'relations'))).body.total).toBe(1);
  });

  it('leave no choice of their sum to a merge', async () => {
    const [survivor, gone] = [await card(), await card()];
    await add(gone, 10);
    const fields = { 'attributes.costTotalAnnual': { value: 41 } };
    const named = 'fields.attributes.costTotalAnnual';
    await expectProblem(merge(admin, survivor, [gone], { fields }), 409, 'costs_by_period', named);
    const mixed = { ...fields, 'attributes.nothing': { value: 1 } };
    await expectProblem(merge(admin, survivor, [gone], { fields: mixed }), 422);
  });

  it('are deleted with their card and their relation, and come back with them', async () => {
    const [id, target] = [await card(), await component()];
    const between = await relation(id, target);
    await add(id, 10);
    await add(between, 3, {}, 'relations');
    await ok(admin.delete(`/api/v1/cards/${id}`));
    expect(await db('costs').where({ card_id: id }).orWhere({ relation_id: between })).toEqual([]);
    await admin.undo();
    expect([await annual(id), await annual(between, 'relations')]).toEqual([10, 3]);
    expect((await admin.get(of(between, 'relations'))).body.total).toBe(1);
    await ok(admin.delete(`/api/v1/relations/${between}`), 204);
    await admin.undo();
    expect(await annual(between, 'relations')).toBe(3);
    expect((await admin.get(of(between, 'relations'))).body.total).toBe(1);
  });
});
