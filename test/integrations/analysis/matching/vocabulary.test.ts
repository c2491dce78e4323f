import { findDuplicates, matchLists } from '../../../../integrations/analysis/matching/match.ts';
import type {
  MatchField,
  MatchRecord,
  Vocabulary,
} from '../../../../integrations/analysis/matching/matching.types.ts';
import { modelId } from '../../../../integrations/analysis/matching/models.ts';
import { reasonsOf } from '../../../../integrations/analysis/matching/reasons.ts';
import { Synonyms } from '../../../../integrations/analysis/matching/synonyms.ts';

const words = 'Amber Birch Cedar Delta Ember Fjord Grove Heron Inlet Jetty Knoll Larch'.split(' ');
const uses = ['Payroll Ledger', 'Claims Portal', 'Freight Planner', 'Tax Register', 'Leave Monitor'];
const others: MatchRecord[] = words.flatMap((word, at) =>
  uses.map((use, n) => ({ id: `x${at}-${n}`, values: { name: `${word} ${use}` } })),
);
const named = (...names: string[]): MatchRecord[] => [
  ...names.map((name, at) => ({ id: `a${at}`, values: { name } })),
  ...others,
];
const fields: MatchField[] = [{ name: 'name', kind: 'name' }];
const vocabulary: Vocabulary = {
  synonyms: [
    ['Order Management', 'Bestellwesen', 'Ordering'],
    ['CRM', 'Kundenbeziehungen'],
    ['Portal', 'Frontend'],
  ],
  vendors: [],
};
const scoreOf = (pairs: readonly { left: string; right: string; score: number }[]) =>
  pairs.find(({ left, right }) => left === 'a0' && right === 'a1')?.score ?? 0;

describe('synonyms of a vocabulary', () => {
  test.each([
    ['Bestellwesen Graz', 'Order Management Graz'],
    ['Nordwind Ordering', 'BESTELLWESEN (Nordwind)'],
    ['Nordwind Auftragsmanagement', 'Nordwind Auftrags-Management'],
    ['Quarz Order Mgmt', 'Quarz Bestellwesen'],
    ['Nordwind Auftragsverwaltung', 'Nordwind Bestellwesen'],
    ['Quarz CRM', 'Quarz Kundenbeziehungen'],
    // the part of a product that the word denotes otherwise
    ['Quarz Frontend', 'Quarz Portal'],
  ])('make names equal: %s, %s', (name, other) => {
    const found = findDuplicates(named(name, other), { fields, vocabulary });
    expect(scoreOf(found.pairs)).toBeGreaterThan(0.5);
    const { evidence } = found.pairs.find(({ left }) => left === 'a0')!;
    expect(evidence.find(({ aspect }) => aspect === 'name')?.similarity).toBe(1);
  });

  test.each([
    ['Bestellwesen Graz', 'Order Management Graz'],
    ['Quarz CRM', 'Quarz Kundenbeziehungen'],
    ['Quarz Frontend', 'Quarz Portal'],
  ])('are other words without it: %s, %s', (name, other) => {
    expect(scoreOf(findDuplicates(named(name, other), { fields }).pairs)).toBeLessThan(0.5);
  });

  test('are equal between two lists, and among the names of a list', () => {
    const both: MatchField[] = [...fields, { name: 'aliases', kind: 'list' }];
    const one = [{ id: 'a0', values: { name: 'Quarz', aliases: ['Quarz Ordering', 'QO'] } }, ...others];
    const other = [{ id: 'a1', values: { name: 'Quarz', aliases: ['Quarz Bestellwesen'] } }, ...others];
    const listed = (options: object) =>
      matchLists(one, other, { fields: both, ...options })
        .pairs.find(({ left, right }) => left === 'a0' && right === 'a1')
        ?.evidence.find(({ aspect }) => aspect === 'aliases')?.similarity;
    expect(listed({ vocabulary })).toBe(1);
    expect(listed({})).toBeLessThan(1);
  });

  test('are found as words are normalised, the longest first, and nowhere else', () => {
    const synonyms = new Synonyms([...vocabulary.synonyms, ['Order', 'Auftrag'], ['P&L', 'Profit and Loss']]);
    expect(synonyms.written('ORDER-MGMT, Graz')).toBe('Order Management, Graz');
    expect(synonyms.written('Auftrag (Bestellwesen)')).toBe('Order (Order Management)');
    expect(synonyms.written('Reordering')).toBe('Reordering');
    expect(synonyms.written('Profit & Loss')).toBe('P&L');
    expect(synonyms.written('')).toBe('');
  });

  test('of groups with a common term are one group', () => {
    const synonyms = new Synonyms([
      ['Ledger', 'Hauptbuch'],
      ['Accounts', 'Kontenplan'],
      ['Chart', 'Ledgers', 'Kontenplan', 'hauptbuch'],
    ]);
    const written = ['Kontenplan', 'Hauptbuch', 'Chart', 'Accounts'].map((word) => synonyms.written(word));
    expect(new Set(written).size).toBe(1);
  });

  test('give the other spellings of a name, up to a number of them', () => {
    const synonyms = new Synonyms(vocabulary.synonyms);
    expect(synonyms.spellingsOf('Quarz', 9)).toEqual(['Quarz']);
    const spellings = synonyms.spellingsOf('Quarz Ordering 2', 9);
    expect(spellings).toEqual(['Quarz Ordering 2', 'Quarz Order Management 2', 'Quarz Bestellwesen 2']);
    const two = synonyms.spellingsOf('CRM Ordering', 20);
    expect(two).toHaveLength(6);
    expect(two).toContain('Kundenbeziehungen Bestellwesen');
    expect(synonyms.spellingsOf('CRM Ordering', 4)).toHaveLength(4);
  });
});

test('vendors of a vocabulary are ignored at the beginning of names, and tell names apart', () => {
  const own: Vocabulary = { synonyms: [['Zork', 'Zork Industries']], vendors: ['Zork', 'Quux Systems'] };
  const withVendor: MatchField[] = [
    { name: 'name', kind: 'name', without: 'vendor' },
    { name: 'vendor', kind: 'name' },
  ];
  const scored = (name: string, other: string, options: object) => {
    const records = named(name, other);
    const { pairs, model } = findDuplicates(records, {
      fields: withVendor,
      thresholds: { match: 0.5, possible: 0 },
      ...options,
    });
    const pair = pairs.find(({ left, right }) => left === 'a0' && right === 'a1')!;
    const similarity = (of: string) => pair.evidence.find(({ aspect }) => aspect === of)?.similarity;
    return {
      name: similarity('name'),
      vendor: similarity('*vendor'),
      reasons: reasonsOf(pair, records[0]!, records[1]!, model),
    };
  };
  const names = ['Zork Industries Dredging Console', 'Dredging Console'] as const;
  expect(scored(...names, { vocabulary: own }).name).toBe(1);
  expect(scored(...names, {}).name).toBeLessThan(1);
  const apart = ['Zork Dredging Console', 'Quux Systems Dredging Console'] as const;
  expect(scored(...apart, {}).vendor).toBeNull();
  const found = scored(...apart, { vocabulary: own });
  expect(found.vendor).toBe(0);
  expect(found.reasons.join('\n')).toContain('The vendor differs: Zork, Quux Systems');
});

describe('the vocabulary of a model', () => {
  const records = named('Bestellwesen Graz', 'Order Management Graz');

  test('is part of its id, and applies wherever it is applied', () => {
    const without = findDuplicates(records, { fields });
    const { model } = findDuplicates(records, { fields, vocabulary });
    expect(modelId(model)).not.toBe(modelId(without.model));
    expect(without.model).not.toHaveProperty('vocabulary');
    const again = findDuplicates(records, { fields, model: structuredClone(model) });
    expect(scoreOf(again.pairs)).toBeGreaterThan(0.5);
  });

  test('can be replaced, with the same result for other pairs, but not for a snapshot', () => {
    const before = findDuplicates(records, { fields });
    const model = { ...before.model, vocabulary };
    expect(scoreOf(findDuplicates(records, { fields, model }).pairs)).toBeGreaterThan(0.5);
    const previous = before.snapshot;
    expect(() => findDuplicates(records, { fields, model, previous })).toThrow('another model');
  });

  test('changes nothing for names without its words', () => {
    const unused = { synonyms: [['Zork', 'Zorkian']], vendors: ['Zork'] };
    const { vocabulary: _, ...model } = findDuplicates(records, { fields, vocabulary: unused }).model;
    expect(model).toEqual(findDuplicates(records, { fields }).model);
  });
});
