import fc from 'fast-check';
import {
  findDuplicates,
  matchLists,
  matchListsInSteps,
} from '../../../../integrations/analysis/matching/match.ts';
import {
  ALL_CODES,
  type MatchField,
  type MatchPair,
  type MatchRecord,
  RARITY,
} from '../../../../integrations/analysis/matching/matching.types.ts';
import { forAll } from '../../../support/property.ts';

const fields: MatchField[] = [
  { name: 'name', kind: 'name' },
  { name: 'vendor', kind: 'name', weight: 0.5 },
  { name: 'description', kind: 'text' },
  { name: 'serial', kind: 'code' },
  { name: 'version', kind: 'version' },
  { name: 'price', kind: 'number' },
];

const record = (id: string, values: MatchRecord['values']): MatchRecord => ({ id, values });
const matches = (pairs: MatchPair[]) =>
  pairs
    .filter((pair) => pair.class === 'match')
    .map(({ left, right }) => `${left}=${right}`)
    .sort();

/** Systems as an inventory names them, and as a configuration database does. */
const inventory = [
  record('a1', { name: 'SAP S/4HANA Finance', vendor: 'SAP SE', description: 'General ledger and closing' }),
  record('a2', {
    name: 'Salesforce Sales Cloud',
    vendor: 'Salesforce, Inc.',
    description: 'Leads and offers',
  }),
  record('a3', { name: 'Müller Lagerverwaltung', vendor: 'Müller GmbH', description: 'Stock in Graz' }),
  record('a4', { name: 'Cisco Catalyst C9300-48P', serial: 'FCW-2233-L0AB' }),
  record('a5', { name: 'Cisco Catalyst C9300-24T', serial: 'FCW-2233-L0CD' }),
  record('a6', { name: 'Payroll archive', description: 'Closed years' }),
];
const database = [
  record('b1', { name: 'S4HANA FINANCE', vendor: 'SAP', description: 'Ledger, closing' }),
  record('b2', { name: 'Sales Cloud (Salesforce)', vendor: 'Salesforce' }),
  record('b3', { name: 'Mueller Lagerverwaltung', vendor: 'MULLER', description: 'Stock, Graz' }),
  record('b4', { name: 'catalyst 9300 switch', serial: 'FCW2233L0AB' }),
  record('b5', { name: 'catalyst 9300 switch', serial: 'FCW2233L0CD' }),
  record('b6', { name: 'Confluence', vendor: 'Atlassian', description: 'Wiki' }),
];

describe('two lists', () => {
  test('find each other under other spellings, and leave strangers alone', () => {
    const { pairs } = matchLists(inventory, database, { fields });
    expect(matches(pairs)).toEqual(['a1=b1', 'a2=b2', 'a3=b3', 'a4=b4', 'a5=b5']);
    expect(pairs.flatMap(({ left, right }) => [left, right])).not.toContain('b6');
  });

  test('explain a score so that it can be counted again', () => {
    const { pairs, model } = matchLists(inventory, database, { fields });
    const [pair] = pairs;
    const bits = pair!.evidence.reduce((sum, { bits }) => sum + bits, model.priorBits);
    expect(2 ** bits / (1 + 2 ** bits)).toBeCloseTo(pair!.alone, 2);
    const price = pair!.evidence.find(({ aspect }) => aspect === 'price');
    expect(price).toEqual({ aspect: 'price', similarity: null, bits: 0 });
  });

  test('that name one thing twice leave it open which is meant', () => {
    const twice = [...database, record('b7', database[1]!.values)];
    const rivals = matchLists(inventory, twice, { fields }).pairs.filter(({ left }) => left === 'a2');
    expect(rivals.map(({ right }) => right).sort()).toEqual(['b2', 'b7']);
    expect(rivals[0]!.score).toBeCloseTo(rivals[1]!.score, 5);
    expect(rivals[0]!.score).toBeLessThan(rivals[0]!.alone);
    expect(rivals[0]!.score).toBeLessThanOrEqual(0.5);
  });

  test('take a model that was learned before', () => {
    const learned = matchLists(inventory, database, { fields });
    const again = matchLists(inventory, database, { fields, model: structuredClone(learned.model) });
    expect(again).toEqual(learned);
  });

  test('may be empty', () => {
    expect(matchLists([], [], { fields }).pairs).toEqual([]);
    expect(matchLists(inventory, [], { fields }).pairs).toEqual([]);
    expect(findDuplicates([], { fields }).pairs).toEqual([]);
    expect(matchLists(inventory, database, { fields: [] }).pairs).toEqual([]);
  });

  test('are refused when an id comes twice', () =>
    expect(() => matchLists([inventory[0]!, inventory[0]!], database, { fields })).toThrow(
      'The id "a1" comes twice.',
    ));

  test('can be compared in steps that tell how far they are', () => {
    const steps = matchListsInSteps(inventory, database, { fields });
    const told: number[] = [];
    let step = steps.next();
    for (; !step.done; step = steps.next()) told.push(step.value);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.every((share) => share >= 0 && share <= 1)).toBe(true);
    expect(step.value).toEqual(matchLists(inventory, database, { fields }));
  });
});

test('one list gives the copies in it, each pair once', () => {
  const { pairs } = findDuplicates([...inventory, ...database, record('c1', inventory[0]!.values)], {
    fields,
  });
  expect(matches(pairs)).toContain('a1=c1');
  expect(pairs.every(({ left, right }) => left < right)).toBe(true);
});

const word = fc.constantFrom(
  'sap',
  'Oracle',
  'ledger',
  'Über',
  'x-200/b',
  '10 GB',
  'портал',
  '会計',
  'مخزن',
  '🙂',
  '',
);
const value = fc.oneof(
  fc.array(word, { maxLength: 5 }).map((words) => words.join(' ')),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constant(null),
  fc.double(),
);
const list = (prefix: string) =>
  fc
    .array(
      fc.record({
        name: value,
        vendor: value,
        description: value,
        serial: value,
        version: value,
        price: value,
      }),
      { maxLength: 12 },
    )
    .map((rows) => rows.map((values, at) => record(`${prefix}${at}`, values)));

describe('whatever the records', () => {
  const rounded = (pairs: MatchPair[]) =>
    new Map(pairs.map(({ left, right, score }) => [`${left}=${right}`, Number(score.toFixed(4))]));

  test('scores and similarities lie between 0 and 1, and no record matches twice', () =>
    forAll(60, [list('a'), list('b')], (left, right) => {
      const { pairs } = matchLists(left, right, { fields });
      for (const { score, alone, evidence } of pairs) {
        const shares = [score, alone, ...evidence.map(({ similarity }) => similarity ?? 0)];
        expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
        expect(evidence.every(({ bits }) => Number.isFinite(bits))).toBe(true);
      }
      const found = pairs.filter((pair) => pair.class === 'match');
      expect(new Set(found.map(({ left }) => left)).size).toBe(found.length);
      expect(new Set(found.map(({ right }) => right)).size).toBe(found.length);
    }));

  test('neither their order nor that of the lists changes anything', () =>
    forAll(40, [list('a'), list('b')], (left, right) => {
      const { pairs, model } = matchLists(left, right, { fields });
      expect(matchLists(left.toReversed(), right.toReversed(), { fields })).toMatchObject({ pairs, model });
      const turned = matchLists(right, left, { fields }).pairs.map((pair) => ({
        ...pair,
        left: pair.right,
        right: pair.left,
      }));
      expect(rounded(turned)).toEqual(rounded(pairs));
    }));

  test('a record is at least as like its copy as any other', () => {
    forAll(40, [list('a')], (left) => {
      const copies = left.map(({ id, values }) => record(`b${id}`, values));
      const thresholds = { match: 0.5, possible: 0 };
      const { pairs } = matchLists(left, copies, { fields, thresholds });
      for (const { left: a, evidence } of pairs.filter((pair) => pair.right === `b${pair.left}`)) {
        for (const [at, { aspect, similarity }] of evidence.entries()) {
          if (similarity === null || aspect === RARITY) continue;
          // codes of many records are damped
          if (aspect !== ALL_CODES) expect(similarity).toBe(1);
          for (const other of pairs.filter((pair) => pair.left === a))
            expect(other.evidence[at]!.similarity ?? 0).toBeLessThanOrEqual(similarity);
        }
      }
    });
  });
});

test('hostile texts cost no more than others', () => {
  const huge = [
    'x'.repeat(1_000_000),
    'a b '.repeat(250_000),
    '1-'.repeat(500_000),
    '\u0301'.repeat(500_000),
    '\ufdfa'.repeat(100_000),
    '\ud800'.repeat(1_000),
  ];
  const left = huge.map((name, at) =>
    record(`a${at}`, { name, description: name, serial: name, version: name, price: name }),
  );
  const right = huge.map((name, at) =>
    record(`b${at}`, { name, description: name, serial: name, version: name, price: name }),
  );
  expect(matchLists(left, right, { fields }).compared).toBeGreaterThan(0);
});
