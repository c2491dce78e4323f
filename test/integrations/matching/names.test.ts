import { describe, expect, test } from 'vitest';
import { wordsFor } from '../../../integrations/matching/corpus.ts';
import { withoutLegalForm } from '../../../integrations/matching/legal-forms.ts';
import { findDuplicates } from '../../../integrations/matching/match.ts';
import {
  acronymsIn,
  addressWords,
  plainNameWords,
  withAcronyms,
} from '../../../integrations/matching/names.ts';
import { fold } from '../../../integrations/matching/normalise.ts';
import { dateSimilarity, dayOf } from '../../../integrations/matching/similarity.ts';

test.each([
  ['SAP SE', 'sap'],
  ['Salesforce, Inc.', 'salesforce'],
  ['Müller GmbH & Co. KG', 'muller'],
  ['Enel S.p.A.', 'enel'],
  ['Danone S. A.', 'danone'],
  ['Orlen Sp. z o.o.', 'orlen'],
  ['Škoda a.s.', 'skoda'],
  ['ООО Ромашка', 'ооо ромашка'],
  ['Ромашка ООО', 'ромашка'],
  ['株式会社日立製作所', '日立製作所'],
  ['Acme Holding (Ltd.)', 'acme'],
  ['GmbH', 'gmbh'],
])('%s is called %s', (name, short) => {
  expect(withoutLegalForm(fold(name))).toBe(short);
});

test.each([
  ['Lagerverwaltung', ['warehouse', 'management']],
  ['Gestion des stocks', ['management', 'des', 'stocks']],
  ['Customer Mgmt Sys', ['customer', 'management', 'system']],
  ['Kundenverwaltung', ['customer', 'management']],
  ['Contabilità', ['accounting']],
])('%s is read as %j', (name, words) => {
  expect(plainNameWords(name)).toEqual(words);
});

test('streets are the same however they are written', () => {
  expect(addressWords('27 N. Washington St.')).toEqual(addressWords('27 North Washington Street'));
  expect(addressWords('Hauptstraße 5')).toEqual(addressWords('Hauptstr. 5'));
});

describe('abbreviations by initials', () => {
  test('are those that names use, and no common words', () => {
    expect(acronymsIn(['ERP core', 'CRM', 'DAY care', 'Day trip', 'ALL OF THIS IS LOUD'])).toEqual([
      'crm',
      'erp',
    ]);
  });

  test('stand for as many words', () => {
    const known = new Set(['erp', 'crm']);
    expect(withAcronyms(['enterprise', 'resource', 'planning', 'europe'], known)).toEqual(['erp', 'europe']);
    expect(withAcronyms(['customer', 'and', 'relationship', 'management'], known)).toEqual(['crm']);
    const long = 'the old clever red machine that stands in the yard'.split(' ');
    expect(withAcronyms(long, known)).toEqual(long);
  });
});

test('a name may begin with its vendor, or not', () => {
  const field = { name: 'name', kind: 'name', without: 'vendor' } as const;
  const words = wordsFor(field, { acronyms: [], leading: { name: ['microsoft'] }, series: [] });
  const of = (name: string, vendor: string | null) => words({ id: 'a', values: { name, vendor } });
  expect(of('Microsoft Excel', null)).toEqual(['excel']);
  expect(of('Contoso Ledger', 'Contoso Ltd.')).toEqual(['ledger']);
  // too little would be left
  expect(of('Microsoft 365', 'Microsoft')).toEqual(['microsoft', '365']);
});

test('dates are alike by the days between', () => {
  expect(dateSimilarity(dayOf('2024-01-01'), dayOf('2024-01-01T10:00:00Z'))).toBe(1);
  expect(dateSimilarity(dayOf('2024-01-01'), dayOf('2024-03-31'))).toBe(0.5);
  expect(dayOf('soon')).toBeNaN();
});

test('aliases, things in common and parents count where names differ', () => {
  const strangers = ['Claims Archive', 'Freight Planner', 'Stock Register', 'Order Broker', 'Tender Console'];
  const records = [
    { id: 'a', values: { names: ['Kronos', 'Workforce Central'], uses: ['d1', 'd2', 'd3'], parent: 'p' } },
    {
      id: 'b',
      values: { names: ['Time Recording', 'Workforce Central'], uses: ['d1', 'd2', 'd3'], parent: 'p' },
    },
    ...strangers.map((name, at) => ({
      id: `s${at}`,
      values: { names: [name], uses: ['d9', `e${at}`], parent: 'q' },
    })),
  ];
  const { pairs } = findDuplicates(records, {
    fields: [
      { name: 'names', kind: 'list' },
      { name: 'uses', kind: 'set' },
      { name: 'parent', kind: 'choice', weight: 0.5 },
    ],
  });
  const [best] = pairs;
  expect([best!.left, best!.right, best!.class]).toEqual(['a', 'b', 'match']);
  expect(best!.evidence.filter(({ aspect }) => ['names', 'uses', 'parent'].includes(aspect))).toMatchObject([
    { similarity: 1 },
    { similarity: 1 },
    { similarity: 1 },
  ]);
});
