// @redis
import fc from 'fast-check';
import { etagOf } from '../../../domain/kernel/context.ts';
import { ok, openApp } from '../../support/harness.ts';
import { forAllAsync } from '../../support/property.ts';
import { card, writesOf } from '../../support/writes.ts';

const { t, db, member, admin } = await openApp(['member', 'admin']);
const { appoint } = writesOf(t);

const app = (name: string, more: object = {}) => ({ type: 'Application', name, ...more });
const create = (body: object, client = member, headers = {}) => client.create('/api/v1/cards', body, headers);
const namesIn = ({ warnings }: { warnings?: { name: string }[] }) => warnings?.map(({ name }) => name);

describe('with a vocabulary of the workspace', () => {
  const url = '/api/v1/settings/matching-vocabulary';
  const synonyms = [['Order Management', 'Bestellwesen', 'Ordering']];
  afterEach(async () => await ok(admin.patch(url, { synonyms: null, vendors: null })));

  it.each([
    ['Bestellwesen Eisenerz', 'Ordering Eisenerz'],
    ['Ordering', 'Bestellwesen'],
    ['Zeltweg Order Management', 'Bestellwesen-Zeltweg'],
  ])('a name is like another by its synonyms: %s, %s', async (name, other) => {
    const first = await create(app(name));
    const without = await create(app(other));
    expect(namesIn(without) ?? []).not.toContain(name);
    await ok(admin.patch(url, { synonyms }));
    const { body } = await member.patch(card(without.id), { name: other.toUpperCase() });
    expect(body.warnings).toContainEqual(
      expect.objectContaining({ card_id: first.id, name, code: 'likely_duplicate' }),
    );
  });
});

describe('a created card', () => {
  it('is answered with the cards that it probably duplicates, the most probable first', async () => {
    const same = await create(app('Contract Archive', { parent_id: (await create(app('Finance'))).id }));
    const slip = await create(app('Contract Archvie'));
    expect(same.warnings).toBeUndefined();
    expect(slip.warnings).toEqual([
      {
        code: 'likely_duplicate',
        card_id: same.id,
        name: 'Contract Archive',
        confidence: expect.any(Number),
      },
    ]);
    const made = await create(app('contract archive'));
    expect(namesIn(made)).toEqual(['Contract Archive', 'Contract Archvie']);
    const [first, second] = made.warnings;
    expect(first.confidence).toBeGreaterThanOrEqual(second.confidence);
    expect(second.confidence).toBeGreaterThanOrEqual(0.5);
  });

  it.each([
    ['Müller Lagerverwaltung', 'Muller Lagerverwaltung'],
    ['Anlagen Überwachung', 'Anlagen Ueberwachung'],
    ['Küche Übergabebuch', 'Küche Uebergabebuch'],
    ['Dräger', 'Draeger'],
    ['Stationsleitung Süd', 'Stationsleitung Sued'],
    ['Salesforce', 'Sales Force'],
    ['Warehouse S/4HANA', 'Warehouse S4HANA'],
    ['Order Management Vienna', 'Order Mgmt Vienna'],
    ['Confluence', 'Conflunece'],
    ['Portal of Suppliers', 'Portal of Suppliers GmbH'],
  ])('is like another: %s, %s', async (name, other) => {
    const { id } = await create(app(name));
    expect((await create(app(other))).warnings).toMatchObject([{ card_id: id, name }]);
  });

  it.each([
    ['Payroll Graz', 'Payroll Linz'],
    ['Booking Engine v2', 'Booking Engine v3'],
    ['Tariff Calculator', 'Tariff Calculator API'],
    ['Fleet (Test)', 'Fleet'],
  ])('is another than its variant: %s, %s', async (name, other) => {
    await create(app(name));
    expect(await create(app(other))).not.toHaveProperty('warnings');
  });

  it('names five others at most, and each of the same name', async () => {
    for (let n = 0; n < 6; n += 1) {
      const { id } = await create(app(`Region ${'ABCDEF'[n]} of sales`));
      await create(app('Ledger', { parent_id: id }));
    }
    const { warnings } = await create(app('LEDGER'));
    expect(warnings).toHaveLength(5);
    expect(new Set(warnings.map(({ name }: { name: string }) => name))).toEqual(new Set(['Ledger']));
  });

  it('is silent about other types, archived cards, and cards that the caller does not see', async () => {
    await create({ type: 'ITComponent', name: 'Gateway North' });
    await ok(member.post(card((await create(app('Gateway North'))).id, '/archive')));
    expect(await create(app('Gateway  North'))).not.toHaveProperty('warnings');

    const { id } = await create(app('Claims Register'));
    const blind = await t.holding('inventory.create');
    expect(await create(app('Claims-Register'), blind)).not.toHaveProperty('warnings');
    await appoint(id, blind, 'responsible');
    expect(namesIn(await create(app('Claims/Register'), blind))).toEqual(['Claims Register']);
  });

  it('is answered the same for the same Idempotency-Key, with the ETag of the card itself', async () => {
    await create(app('Price Finder'));
    const key = { 'idempotency-key': 'warned-once' };
    const first = await member.post('/api/v1/cards', app('Price-Finder'), key);
    await create(app('Price_Finder'));
    const again = await member.post('/api/v1/cards', app('Price-Finder'), key);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(namesIn(again.body)).toEqual(['Price Finder']);
    const read = await member.get(card(first.body.id));
    expect(first.headers.etag).toBe(read.headers.etag);
    expect(first.headers.etag).toBe(etagOf(read.text));
    const { warnings: _, ...rest } = first.body;
    expect(rest).toEqual(read.body);
    await ok(member.patch(card(first.body.id), { alias: 'PF' }, { 'if-match': String(first.headers.etag) }));
  });

  it('is answered the same in a dry run', async () => {
    const { id } = await create(app('Tax Filing'));
    const batch = await admin.create('/api/v1/mutation-batches', { tool_name: 'tests', dry_run: true });
    const tried = { 'x-mutation-batch': batch.id };
    expect(namesIn(await create(app('Tax-Filing'), admin, tried))).toEqual(['Tax Filing']);
    const other = await create(app('Excise'));
    const renamed = await ok(admin.patch(card(other.id), { name: 'Tax/Filing' }, tried));
    expect(renamed.warnings).toMatchObject([{ card_id: id }]);
  });
});

describe('a renamed card', () => {
  it('is answered with the cards that it probably duplicates by its new name', async () => {
    await create(app('Meter Reading'));
    const { id } = await create(app('Reading of electricity'));
    const change = (body: object) => ok(member.patch(card(id), body));
    expect(namesIn(await change({ name: 'Meter-Reading' }))).toEqual(['Meter Reading']);
    expect(await change({ name: 'Meter-Reading' })).not.toHaveProperty('warnings');
    expect(await change({ description: 'Meter Reading' })).not.toHaveProperty('warnings');
    expect(await change({ name: 'Reading of gas' })).not.toHaveProperty('warnings');
    await ok(member.post(card(id, '/archive')));
    expect(await change({ name: 'Meter-Reading' })).not.toHaveProperty('warnings');
  });
});

it('is not looked for by operations on many cards', async () => {
  await create(app('Bulk Loader'));
  const made = await ok(
    member.post('/api/v1/cards/bulk-create', { cards: [{ row_index: 0, ...app('Bulk-Loader') }] }),
  );
  expect(JSON.stringify(made)).not.toContain('likely_duplicate');
});

/** Executes an action while the table of the models is missing, or locked for longer than the check may take. */
async function withFault(fault: 'missing' | 'locked', act: () => Promise<void>): Promise<void> {
  if (fault === 'missing') {
    await db.raw('alter table duplicate_states rename to hidden_states');
    try {
      await act();
    } finally {
      await db.raw('alter table hidden_states rename to duplicate_states');
    }
    return;
  }
  const lock = await db.transaction();
  await lock.raw('lock table duplicate_states in access exclusive mode');
  try {
    await act();
  } finally {
    await lock.rollback();
  }
}

it('never fails a write, nor delays its response for long', async () => {
  const { id } = await create(app('Unchecked'));
  let n = 0;
  const fault = fc.constantFrom('missing' as const, 'locked' as const);
  await forAllAsync(6, [fault, fc.boolean()], async (kind, renames) => {
    n += 1;
    const name = `${'-'.repeat(n)}Unchecked`;
    await withFault(kind, async () => {
      const answer = renames
        ? await member.patch(card(id), { name })
        : await member.post('/api/v1/cards', app(name));
      expect(answer.status, answer.text).toBe(renames ? 200 : 201);
      expect(answer.body.name).toBe(name);
      expect(answer.body).not.toHaveProperty('warnings');
    });
  });
  expect((await create(app('Un-checked'))).warnings).not.toHaveLength(0);
});
