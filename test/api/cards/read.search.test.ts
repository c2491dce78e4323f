import fc from 'fast-check';
import { expectProblem, ok, openApp } from '../../support/harness.ts';
import { forAllAsync } from '../../support/property.ts';
import { names, putCard, raise } from './read.fixture.ts';

const { t, db, viewer } = await openApp(['viewer']);
const rows = [
  { name: 'Müller Warenwirtschaft' },
  { name: 'Claims Desk', alias: 'CLD', external_id: 'APP-0042' },
  { name: 'Claims' },
  { name: 'Claimsworks' },
  { name: 'Payment Hub', description: 'Settles claims/refunds by Überweisung. See docs.example.com.' },
  { name: 'SAP S/4HANA Finance' },
  { name: 'Kafka 3.7' },
  { name: 'Kafka 2.8' },
  { name: 'Учёт договоров' },
  { name: 'Old Claims Archive', status: 'ARCHIVED' },
  { name: 'Claims Gateway', type: 'Interface' },
  { name: 'Läuteordnung' },
  { name: 'Feuergroeße' },
];
for (const row of rows) await putCard(t, row);

const find = async (text: string, more = '') => {
  const body = await ok(viewer.get(`/api/v1/cards?search=${encodeURIComponent(text)}${more}`));
  expect(body.total).toBe(body.items.length);
  return names(body);
};

describe('search', () => {
  it('ranks the exact name first, then beginnings, then words, and the description last', async () => {
    const names = await find('claims');
    expect(names).toEqual(['Claims', 'Claims Desk', 'Claims Gateway', 'Claimsworks', 'Payment Hub']);
    const sorted = await find('claims', '&type=Application&sort_by=name&sort_dir=desc');
    expect(sorted).toEqual(['Payment Hub', 'Claimsworks', 'Claims Desk', 'Claims']);
    expect(await find('claims', '&status=ARCHIVED')).toEqual(['Old Claims Archive']);
  });

  it.each([
    ['CLAMIS DESK', 'Claims Desk'],
    ['claimsdesk', 'Claims Desk'],
    ['Cliams', 'Claims'],
    ['app-0042', 'Claims Desk'],
    ['cld', 'Claims Desk'],
    ['muller', 'Müller Warenwirtschaft'],
    ['Mueller warenwirtschaft', 'Müller Warenwirtschaft'],
    ['laeuteordnung', 'Läuteordnung'],
    ['läuteord', 'Läuteordnung'],
    ['feuergröße', 'Feuergroeße'],
    ['feuergroesse', 'Feuergroeße'],
    ['wahrenwirtschaft', 'Müller Warenwirtschaft'],
    ['müller'.normalize('NFD'), 'Müller Warenwirtschaft'],
    ['uberweisung', 'Payment Hub'],
    ['refunds hub', 'Payment Hub'],
    ['example docs', 'Payment Hub'],
    ['s/4hana', 'SAP S/4HANA Finance'],
    ['sap finnace', 'SAP S/4HANA Finance'],
    ['kafka 3.7', 'Kafka 3.7'],
    ['kafak 2.8', 'Kafka 2.8'],
    ['договор', 'Учёт договоров'],
    ['учет', 'Учёт договоров'],
    ['УЧЕТ дагаворов', 'Учёт договоров'],
  ])('%s finds %s', async (text, expected) => expect((await find(text))[0]).toBe(expected));

  it('finds nothing where there is nothing, and everything for blanks', async () => {
    expect(await find('zzzzzz')).toEqual([]);
    expect(await find('%')).toEqual([]);
    expect(await find('  ')).toHaveLength(12);
  });

  it('takes any text but what the database cannot hold', async () => {
    const odd = [
      "'",
      '\\',
      '&|!():*<->',
      "a' & b",
      'a:*',
      '_',
      '\u0000',
      'a\u0000b',
      '\ud800',
      '🦀',
      'ﬁle',
      'x'.repeat(200),
    ];
    for (const text of odd) {
      const { status } = await viewer.get(`/api/v1/cards?search=${encodeURIComponent(text.toWellFormed())}`);
      expect(status).toBe(text.includes('\0') ? 422 : 200);
    }
    await forAllAsync(60, [fc.string({ maxLength: 40, unit: 'binary' })], async (text) => {
      const { status } = await viewer.get(`/api/v1/cards?search=${encodeURIComponent(text)}`);
      expect(status).toBe(text.includes('\0') ? 422 : 200);
    });
  });

  it('is walked by cursor in its order, bound to its text', async () => {
    const first = await viewer.get('/api/v1/cards?search=claims&page_size=2&cursor=');
    expect(first.body.more_matches).toBe(false);
    const rest = await viewer.get(`/api/v1/cards?search=claims&page_size=3&cursor=${first.body.next_cursor}`);
    expect([...names(first.body), ...names(rest.body)]).toEqual(await find('claims'));
    await expectProblem(
      viewer.get(`/api/v1/cards?search=claim&page_size=2&cursor=${first.body.next_cursor}`),
      422,
      'cursor_mismatch',
      'cursor',
    );
  });

  it('says so when more cards match than it shows, and still puts the exact one first', async () => {
    await db.raw(`insert into cards (type, name, description)
       select 'Provider', 'Vendor system ' || n, 'A system.' from generate_series(1, 1500) n
       union all select 'Provider', 'System', null`);
    await db.raw('analyze cards');
    await raise(t, 'cards:Provider');
    const { body } = await viewer.get('/api/v1/cards?search=system&page_size=2');
    expect([body.total, body.more_matches, body.items[0].name]).toEqual([1000, true, 'System']);
    const narrow = await viewer.get('/api/v1/cards?search=vendor%20system%201234');
    expect([narrow.body.more_matches, narrow.body.items[0].name]).toEqual([false, 'Vendor system 1234']);
    const misspelt = await viewer.get('/api/v1/cards?search=vendro%20sytem%20777');
    expect(misspelt.body.items[0].name).toBe('Vendor system 777');
  });
});

it('finds names by a text without a letter or digit', async () => {
  await putCard(t, { name: 'Bank 🏦 core' });
  for (const text of ['🏦', ' 🏦 ']) {
    const { status, body } = await viewer.get(`/api/v1/cards?search=${encodeURIComponent(text)}`);
    expect([status, body.total, body.items[0]?.name]).toEqual([200, 1, 'Bank 🏦 core']);
  }
  for (const text of ['🚀', '%%', '_', '\\']) {
    const { status, body } = await viewer.get(`/api/v1/cards?search=${encodeURIComponent(text)}`);
    expect([status, body.items]).toEqual([200, []]);
  }
});
