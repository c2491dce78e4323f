import { findDuplicates, priorModel, scorePairs } from '../../../../integrations/analysis/matching/match.ts';
import { reasonsOf } from '../../../../integrations/analysis/matching/reasons.ts';
import { regionNamed } from '../../../../integrations/analysis/matching/regions.ts';
import { SeriesFinder, seriesSimilarity } from '../../../../integrations/analysis/matching/series.ts';
import type { Variant } from '../../../../integrations/analysis/matching/variants.ts';
import { variantOf, variantSimilarity } from '../../../../integrations/analysis/matching/variants.ts';
import products from './variants.products.json' with { type: 'json' };
import variants from './variants.variants.json' with { type: 'json' };

const similarity = (what: keyof Variant, a: string, b: string) =>
  variantSimilarity(what, variantOf(a), variantOf(b));

test.each<[keyof Variant, string, string]>(variants as [keyof Variant, string, string][])(
  'by their %s, %s and %s are not the same',
  (what, a, b) => expect(similarity(what, a, b)).toBe(0),
);

test.each<[keyof Variant, string, string]>([
  ['environment', 'SAP ERP Test', 'SAP ERP TST'],
  ['environment', 'Payroll entwicklung', 'Payroll Dev'],
  ['version', 'Oracle 12', 'Oracle 12.2'],
  ['version', 'Ledger II', 'Ledger 2'],
  ['version', 'Tomcat v9.0', 'Tomcat version 9'],
  ['region', 'Payroll Deutschland', 'Payroll DE'],
  ['region', 'Payroll United States', 'Payroll USA'],
  ['colour', 'Camera Noir', 'Camera black'],
  ['edition', 'Ledger 5 Pro', 'Ledger Professional'],
  ['edition', 'Ledger 5 User', 'Ledger 5 seats'],
  ['platform', 'Ledger for Mac', 'Ledger macOS'],
])('the %s of %s and %s is the same', (what, a, b) => expect(similarity(what, a, b)).toBe(1));

test.each<[keyof Variant, string, string, number]>([
  // production goes without saying, a test does not
  ['environment', 'SAP ERP', 'SAP ERP Prod', Number.NaN],
  ['environment', 'SAP ERP', 'SAP ERP Test', 0.5],
  // what a thing is for is no environment
  ['environment', 'Child Development', 'Child Care', Number.NaN],
  ['environment', 'Production Planning', 'Production Control', Number.NaN],
  ['environment', 'Test', 'Development', Number.NaN],
  // sizes and channels are no versions
  ['version', 'Home Theater 5.1 Channel System', 'Home Theater 7.1 Channel System', Number.NaN],
  ['version', "Television 46'", "Television 52'", Number.NaN],
  ['version', 'Disk 500 GB', 'Disk 250 GB', Number.NaN],
  ['version', '3 Steps', '4 Steps', Number.NaN],
  ['version', 'Ludwig V.', 'Ludwig X.', Number.NaN],
  ['region', 'North Wind', 'South Wind', Number.NaN],
  ['colour', 'Red Hat Linux', 'Linux', Number.NaN],
  ['edition', 'Ledger', 'Ledger Standard', 0.5],
  ['edition', 'Ledger 5 User', 'Ledger 10 User', 0],
  ['edition', 'Ledger Deluxe', 'Ledger for Mac', 0],
  ['edition', 'Ledger Deluxe for Mac', 'Ledger for Mac', 0.5],
  ['unit', 'Claims', 'Claims Retail', 0.5],
  ['unit', 'Claims Retail', 'Claims Leasing', 0],
  ['region', 'IT Service Desk', 'HR Service Desk', Number.NaN],
  ['region', 'PAYROLL IN USE', 'PAYROLL IT', Number.NaN],
])('the %s of %s and %s says %d', (what, a, b, expected) => expect(similarity(what, a, b)).toBe(expected));

test('countries are known in several languages', () => {
  expect(['germany', 'deutschland', 'allemagne', 'alemania', 'niemcy', 'германия'].map(regionNamed)).toEqual(
    Array(6).fill('de'),
  );
  expect(regionNamed('payroll')).toBeUndefined();
});

function seriesIn(names: string[][]): string[] {
  const finder = new SeriesFinder();
  for (const name of names) finder.add(name);
  return finder.found();
}

test('words that take turns in rows of names tell things apart, in any language', () => {
  const sites = ['graz', 'linz', 'wien'];
  const uses = ['lohn', 'lager', 'einkauf'];
  const series = new Set(seriesIn(sites.flatMap((site) => uses.map((use) => [use, 'verwaltung', site]))));
  expect([...series].sort()).toEqual([...sites, ...uses].sort());
  expect(seriesSimilarity(['lohn', 'verwaltung', 'graz'], ['lohn', 'verwaltung', 'wien'], series)).toBe(0);
  expect(seriesSimilarity(['lohn', 'verwaltung', 'graz'], ['lohn', 'verwaltung', 'grz'], series)).toBeNaN();
  expect(seriesSimilarity(['lohn', 'verwaltung', 'graz'], ['lohn', 'verwaltung'], series)).toBeNaN();
  // what a thing is called in general is not meant
  expect(
    seriesIn(
      ['system', 'tool', 'app'].flatMap((word) => [
        ['a', word],
        ['b', word],
      ]),
    ),
  ).toEqual([]);
});

test('variants of one product are no duplicates, true ones beside them are, and it is told why', () => {
  const records = products.map((name, at) => ({ id: `r${10 + at}`, values: { name } }));
  const { pairs, model } = findDuplicates(records, {
    fields: [{ name: 'name', kind: 'name' }],
    thresholds: { match: 0.5, possible: 0 },
  });
  const between = (a: number, b: number) =>
    pairs.find(({ left, right }) => left === `r${a}` && right === `r${b}`)!;
  expect(
    pairs.filter((pair) => pair.class === 'match').map(({ left, right }) => [left, right]),
  ).toContainEqual(['r16', 'r17']);
  for (const [a, b] of [
    [10, 11],
    [12, 13],
    [14, 15],
  ] as const)
    expect(between(a, b).score).toBeLessThan(0.1);
  const reasons = reasonsOf(between(10, 11), records[0]!, records[1]!, model);
  expect(reasons[0]).toBe('The environment differs: production, test: over a thousand times less likely.');
});

test('no pair is certain of which only one name has a version or a region, or whose partners are in another order', () => {
  const text = 'Settles invoices of wholesale partners every night, with a ledger of its own';
  const names = ['Quorvane Ledger', 'Quorvane Ledger 12', 'Quorvane Ledger Deutschland', 'Quorvane Ledger'];
  const firms = ['Moreau & Quorvane GmbH', 'Quorvane & Moreau Ltd', 'Moreau und Quorvane'];
  const records = [...names, ...firms].map((name, at) => ({ id: `r${at}`, values: { name, text } }));
  const model = priorModel([
    { name: 'name', kind: 'name' },
    { name: 'text', kind: 'text' },
  ]);
  const scoreOf = (a: number, b: number) => scorePairs(records, [[`r${a}`, `r${b}`]], model)[0]!;
  for (const [a, b] of [
    [0, 3],
    [4, 6],
  ] as const)
    expect(scoreOf(a, b)).toBeGreaterThan(0.95);
  for (const [a, b] of [
    [0, 1],
    [0, 2],
    [4, 5],
  ] as const) {
    expect(scoreOf(a, b)).toBeGreaterThan(0.5);
    expect(scoreOf(a, b)).toBeLessThanOrEqual(0.9);
  }
});

test('an equal serial number makes a pair certain although only one name has a version', () => {
  const fields = [
    { name: 'name', kind: 'name' as const },
    { name: 'serial', kind: 'code' as const },
  ];
  const records = ['Quorvane Ledger', 'Quorvane Ledger 12'].map((name, at) => ({
    id: `r${at}`,
    values: { name, serial: 'QL-778123-X' },
  }));
  expect(scorePairs(records, [['r0', 'r1']], priorModel(fields))[0]).toBeGreaterThan(0.95);
});
