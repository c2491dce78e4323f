import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { card, writesOf } from '../../support/writes.ts';
import { merge, undo } from './merge.fixture.ts';

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);
const { eventsOf } = writesOf(t);
const types = '/api/v1/metamodel/types';

const make = (name: string, type = 'Application') => admin.card({ type, name });
const byNumber = (number: string, client = admin) => client.get(`/api/v1/card-numbers/${number}`);
const list = (query: string) => ok(admin.get(`/api/v1/cards?${query}`));
const value = (number: string): number => Number(number.split('-')[1]);

describe('numbers', () => {
  it('count the cards of a type, and are recorded in their events', async () => {
    const { answer, events } = await eventsOf(
      () => admin.post('/api/v1/cards', { type: 'Objective', name: 'Fewer systems' }),
      201,
    );
    expect(answer.body.number).toBe('OBJ-00001');
    expect(events[0]!.data.changes.number).toEqual({ old: null, new: 'OBJ-00001' });
    expect((await make('Faster delivery', 'Objective')).number).toBe('OBJ-00002');
    expect((await make('Billing')).number).toMatch(/^APP-\d{5}$/);
    const { body } = await admin.patch(card(answer.body.id), { alias: 'FS' });
    expect(body.number).toBe('OBJ-00001');
  });

  it('cannot be chosen', async () => {
    const body = { type: 'Application', name: 'Chosen', number: 'APP-00007' };
    await expectProblem(admin.post('/api/v1/cards', body), 422, 'validation_failed', 'number');
    const { id } = await make('Given');
    await expectProblem(admin.patch(card(id), { number: 'APP-00007' }), 422, 'validation_failed', 'number');
  });

  it('are not given again after a deletion, nor used up by dry runs', async () => {
    const gone = await make('Gone');
    await admin.delete(card(gone.id));
    const rows = Array.from({ length: 50 }, (_, n) => ({
      row_index: n,
      type: 'Application',
      name: `Dry ${n}`,
    }));
    await ok(admin.post('/api/v1/cards/bulk-create', { cards: rows, dry_run: true }));
    const next = await make('Next');
    expect(value(next.number)).toBe(value(gone.number) + 1);
    await expectProblem(byNumber(gone.number), 404);
  });

  it('come back with a deleted card', async () => {
    const back = await make('Back');
    const { headers } = await admin.delete(card(back.id));
    const position = Number(headers['x-position']);
    const { batch_id } = await db('events').where({ position }).first('batch_id');
    await make('In between');
    await ok(admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false }));
    expect((await byNumber(back.number)).body).toMatchObject({ id: back.id, number: back.number });
  });

  it('are different for concurrent writers', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, n) => make(`Concurrent ${n}`)));
    expect(new Set(pluck(made, 'number')).size).toBe(20);
  });

  it('of merged cards lead to the survivor', async () => {
    const [kept, merged] = [await make('Kept'), await make('Merged')];
    const { body } = await merge(admin, kept.id, [merged.id]);
    expect((await byNumber(merged.number)).body.id).toBe(kept.id);
    await ok(undo(admin, body.merge_id));
    expect((await byNumber(merged.number)).body.id).toBe(merged.id);
  });
});

describe('GET /card-numbers/{number}', () => {
  it('finds a card by its number in any case, with or without zeros', async () => {
    const made = await make('Found');
    const { text } = await admin.get(card(made.id));
    const n = value(made.number);
    for (const number of [made.number, `app-${n}`, `APP${n}`, `App-000${n}`]) {
      expect((await byNumber(number, viewer)).text).toBe(text);
    }
  });

  it('finds no hidden card, and no other texts', async () => {
    const made = await make('Hidden', 'TechCategory');
    await ok(admin.patch(`${types}/TechCategory`, { is_hidden: true }));
    for (const number of [made.number, 'APP-99999', 'APP-0', 'APP', '42', 'APP-1234567890']) {
      await expectProblem(byNumber(number), 404);
    }
    await ok(admin.patch(`${types}/TechCategory`, { is_hidden: false }));
    await ok(byNumber(made.number));
  });
});

describe('lists', () => {
  it('search, filter and sort by number', async () => {
    const [first, second] = [await make('Zulu 42'), await make('Alpha')];
    const n = value(second.number);
    for (const search of [second.number, `app-${n}`, `APP ${n}`]) {
      const { items } = await list(`search=${encodeURIComponent(search)}`);
      expect(items[0].id).toBe(second.id);
    }
    const filtered = async (filter: string) =>
      pluck((await list(`filter=${encodeURIComponent(filter)}`)).items, 'id');
    expect(await filtered(`number = "app-${n}"`)).toEqual([second.id]);
    expect(await filtered(`number in ("${first.number}", "nothing")`)).toEqual([first.id]);
    expect(await filtered(`number != "${first.number}" and number starts with "APP"`)).toContain(second.id);
    const { items } = await list('type=Application&sort_by=number&sort_dir=desc&fields=number&page_size=2');
    expect(pluck(items, 'number')).toEqual([second.number, first.number]);
    const page = await list('type=Application&sort_by=number&cursor=&page_size=1&fields=number');
    expect(page.items).toHaveLength(1);
    expect(page.next_cursor).not.toBeNull();
  });

  it('order numbers of more than five digits by value', async () => {
    await db.raw(`select setval('card_numbers_ini', 99999)`);
    const low = await make('Low', 'Initiative');
    expect(low.number).toBe('INI-100000');
    await db('cards').where({ id: low.id }).update({ number: 'INI-99999' });
    const high = await make('High', 'Initiative');
    const { items } = await list('type=Initiative&sort_by=number');
    expect(pluck(items, 'id')).toEqual([low.id, high.id]);
  });
});

describe('prefixes', () => {
  const typeOf = (key: string) => ok(admin.get(`${types}/${key}`));

  it('are free ones unless given', async () => {
    await ok(admin.post(types, { key: 'Appliance', label: 'Appliance' }), 201);
    expect((await typeOf('Appliance')).number_prefix).toBe('APPL');
    await ok(admin.post(types, { key: 'Site', label: 'Site', number_prefix: 'LOC' }), 201);
    expect((await make('Bergen', 'Site')).number).toBe('LOC-00001');
  });

  it('belong to one type', async () => {
    const body = { key: 'Other', label: 'Other', number_prefix: 'APP' };
    await expectProblem(admin.post(types, body), 422, 'validation_failed', 'number_prefix');
    await expectProblem(
      admin.patch(`${types}/Site`, { number_prefix: 'APP' }),
      422,
      'validation_failed',
      'number_prefix',
    );
    await expectProblem(
      admin.patch(`${types}/Site`, { number_prefix: 'lo' }),
      422,
      'validation_failed',
      'number_prefix',
    );
  });

  it('change for new cards only, and continue where they were', async () => {
    await ok(admin.patch(`${types}/Site`, { number_prefix: 'PLC' }));
    expect((await make('Hamar', 'Site')).number).toBe('PLC-00001');
    expect((await byNumber('LOC-1')).body).toMatchObject({ name: 'Bergen', number: 'LOC-00001' });
    await ok(admin.post(types, { key: 'Locality', label: 'Locality', number_prefix: 'LOC' }), 201);
    expect((await make('Moss', 'Locality')).number).toBe('LOC-00002');
  });
});
