import type { NamedSupplier } from '../../../../domain/analysis/suppliers/suppliers.types.ts';
import type { Vocabulary } from '../../../../integrations/analysis/matching/matching.types.ts';
import { editDistance } from '../../../../integrations/analysis/matching/misspellings.ts';
import { resolveSuppliers } from '../../../../integrations/analysis/suppliers/resolve.ts';
import {
  isMisspelling,
  shownName,
  spellingOf,
} from '../../../../integrations/analysis/suppliers/spelling.ts';
import apart from './resolve.apart.json' with { type: 'json' };

const supplier = (name: string, more: Partial<NamedSupplier> = {}): NamedSupplier => ({
  name,
  card: `card of ${name}`,
  aliases: [],
  host: null,
  kind: 'vendor',
  supplied: 1,
  ...more,
});

function resolve(named: NamedSupplier[], vocabulary?: Vocabulary) {
  const steps = resolveSuppliers(named, vocabulary);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const groupsOf = (names: (string | NamedSupplier)[]) =>
  resolve(names.map((name) => (typeof name === 'string' ? supplier(name) : name))).map((found) =>
    found.names.map(({ name }) => name).sort(),
  );

it('takes names that differ by case, accents, punctuation and legal form for one', () =>
  expect(
    groupsOf(['Müller Logistik GmbH & Co. KG', 'MULLER LOGISTIK', 'Data Dog', 'Datadog, Inc.', 'Nordwind']),
  ).toEqual([
    ['Data Dog', 'Datadog, Inc.'],
    ['MULLER LOGISTIK', 'Müller Logistik GmbH & Co. KG'],
    ['Nordwind'],
  ]));

it('knows common names, initials, aliases of cards, websites and editDistance of writing', () => {
  const found = resolve([
    supplier('Microsoft Corporation', { supplied: 9 }),
    supplier('MSFT', { card: null }),
    supplier('Microsft', { card: null }),
    supplier('Zentrale Rechen Dienste'),
    supplier('ZRD', { card: null }),
    supplier('Waterlijn Systemen', { aliases: ['WLS'] }),
    supplier('WLS', { card: null }),
    supplier('Oakmere', { host: 'oakmere.example' }),
    supplier('Eichsee Handel', { host: 'oakmere.example' }),
    supplier('Everstead Life'),
    supplier('Everstaed Life', { card: null }),
    supplier('Tallyhouse'),
    supplier('Tallyhouse Software', { card: null }),
  ]);
  const names = (canonical: string) =>
    found.find(({ canonicalName }) => canonicalName === canonical)?.names.map(({ name }) => name);
  expect(names('Microsoft')).toEqual(['Microsoft Corporation', 'MSFT', 'Microsft']);
  expect(names('Zentrale Rechen Dienste')).toEqual(['Zentrale Rechen Dienste', 'ZRD']);
  expect(names('Waterlijn Systemen')).toEqual(['Waterlijn Systemen', 'WLS']);
  expect(found.some(({ names: all }) => all.length === 2 && all.some(({ name }) => name === 'Oakmere'))).toBe(
    true,
  );
  expect(names('Everstead Life')).toEqual(['Everstead Life', 'Everstaed Life']);
  expect(names('Tallyhouse')).toEqual(['Tallyhouse', 'Tallyhouse Software']);
  for (const { names: all, confidence } of found) {
    expect(confidence).toBe(Math.min(...all.map((name) => name.confidence)));
    if (all.length > 1) expect(all.every(({ reason }) => reason.length > 10)).toBe(true);
  }
});

it('keeps apart what only looks alike', () => expect(groupsOf(apart)).toHaveLength(apart.length));

it('finds owners, branches and names that begin with others, and never goes in a circle', () => {
  const found = resolve(
    [
      'SAP',
      'SAP Deutschland SE & Co. KG',
      'SAP (Schweiz) AG',
      'Red Hat',
      'HashiCorp',
      'Slack',
      'Salesforce',
      'Nordwind',
      'Nordwind Health',
    ].map((name) => supplier(name)),
  );
  const of = (canonical: string) => found.find(({ canonicalName }) => canonicalName === canonical)!;
  const parent = (canonical: string) => {
    const { parent: at } = of(canonical);
    return at === null ? null : found[at]!.canonicalName;
  };
  expect(parent('SAP Deutschland SE & Co. KG')).toBe('SAP');
  expect(parent('SAP (Schweiz) AG')).toBe('SAP');
  expect(parent('Slack')).toBe('Salesforce');
  expect(parent('Nordwind Health')).toBe('Nordwind');
  expect(parent('Red Hat')).toBeNull();
  expect([of('Red Hat').group, of('HashiCorp').group]).toEqual(['IBM', 'IBM']);
  expect(of('SAP Deutschland SE & Co. KG')).toMatchObject({ group: 'SAP', parentConfidence: 0.9 });
});

it('does not take a brand that only begins with the name of another supplier for its subsidiary', () => {
  const found = resolve(
    ['Nordwind', 'Nordwind Brewery', 'Nordwind Claims Services', 'Apple', 'Apple Tree Media', 'Oracle'].map(
      (name) => supplier(name),
    ),
  );
  const children = found.filter(({ parent }) => parent !== null);
  expect(children.map(({ canonicalName }) => canonicalName)).toEqual(['Nordwind Claims Services']);
});

it.each([
  { used: [1, 4], canonical: 'Everstead Life' },
  { used: [1, 1], canonical: 'Everstead Life' },
])(
  'names a supplier by its best-attested spelling, and never by a misspelling: $used',
  ({ used, canonical }) => {
    const found = resolve([
      supplier('Everstaed Life', { supplied: used[0]! }),
      supplier('Everstead Life', { supplied: used[1]! }),
      supplier('Homestead Farming'),
      supplier('Misteads'),
    ]);
    expect(found.find(({ names }) => names.length === 2)?.canonicalName).toBe(canonical);
  },
);

it('takes of three spellings the one between the others', () => {
  const found = resolve(
    ['Alphantier', 'Elphantier', 'Alphanteir', 'Alphantierr'].map((name) => supplier(name)),
  );
  expect(found.find(({ names }) => names.length > 1)?.canonicalName).toBe('Alphantier');
});

it('depends on no order, and survives whatever is written', () => {
  const names = [
    'Microsoft',
    'MSFT',
    'Microsft',
    'Everstead',
    'Everstaed',
    'Red Hat',
    'SAP SE',
    'sap',
    'Nordwind AG',
  ];
  expect(groupsOf(names.toReversed())).toEqual(groupsOf(names));
  const hostile = [
    '',
    '   ',
    '‮evil',
    '\u0000',
    'x'.repeat(1_000_000),
    '株式会社日立製作所',
    '日立製作所',
    '💥',
    '... GmbH',
    '<b>',
  ];
  expect(groupsOf([...names, ...hostile]).filter((group) => names.includes(group[0]!))).toHaveLength(
    groupsOf(names).length,
  );
  expect(shownName('a‮\u0007b\n c')).toBe('a b c');
  expect(groupsOf(['株式会社日立製作所', '日立製作所'])).toHaveLength(1);
  expect(groupsOf([])).toEqual([]);
});

it('measures slips', () => {
  expect([
    editDistance('abcd', 'abdc', 2),
    editDistance('abcd', 'abcd', 2),
    editDistance('abcd', 'bcd', 2),
    editDistance('abc', 'xyz', 2),
  ]).toEqual([1, 0, 1, 3]);
  const slip = (a: string, b: string) => isMisspelling(spellingOf(a)!, spellingOf(b)!);
  expect([slip('Oracle', 'Oracel'), slip('Intel', 'Inkel'), slip('Studio 21', 'Studio 31')]).toEqual([
    true,
    false,
    false,
  ]);
});

it('takes names that are synonyms in the vocabulary of the workspace for one, and says so', () => {
  const named = ['Zork Industries', 'Quux AG', 'Nordwind'].map((name) => supplier(name));
  expect(resolve(named)).toHaveLength(3);
  const [found, other] = resolve(named, { synonyms: [['Quux', 'ZORK INDUSTRIES']], vendors: [] });
  expect([found, other].map((one) => one?.names.length).sort()).toEqual([1, 2]);
  const names = [found, other].flatMap((one) => one!.names);
  expect(names).toContainEqual(
    expect.objectContaining({
      confidence: 1,
      reason: '“Quux AG” and “Zork Industries” are synonyms in the vocabulary',
    }),
  );
});
