import { acronymsIn, withAcronyms, writtenOut } from '../../../../integrations/analysis/matching/acronyms.ts';
import { wordsFor } from '../../../../integrations/analysis/matching/corpus.ts';
import { findCompounds, jointWriter } from '../../../../integrations/analysis/matching/joints.ts';
import { withoutLegalForm } from '../../../../integrations/analysis/matching/legal-forms.ts';
import { findDuplicates } from '../../../../integrations/analysis/matching/match.ts';
import {
  addressWords,
  nameReader,
  plainNameWords,
  rawNameWords,
  umlautsIn,
} from '../../../../integrations/analysis/matching/names.ts';
import { dateSimilarity, dayOf } from '../../../../integrations/analysis/matching/similarity.ts';
import { vendorOf } from '../../../../integrations/analysis/matching/vendors.ts';
import { fold } from '../../../../platform/fold.ts';
import companies from './names.companies.json' with { type: 'json' };
import languages from './names.languages.json' with { type: 'json' };
import versioned from './names.versioned.json' with { type: 'json' };

test.each(companies as [string, string][])('%s is called %s', (name, short) => {
  expect(withoutLegalForm(fold(name))).toBe(short);
});

test.each(languages as [string, string[]][])('%s is read as %j', (name, words) => {
  expect(plainNameWords(name)).toEqual(words);
});

test('streets are the same however they are written', () => {
  expect(addressWords('27 N. Washington St.')).toEqual(addressWords('27 North Washington Street'));
  expect(addressWords('Hauptstraße 5')).toEqual(addressWords('Hauptstr. 5'));
});

test.each(versioned as [string, string[]][])('%s is written %j', (name, words) => {
  expect(rawNameWords(name)).toEqual(words);
});

describe('abbreviations by initials', () => {
  const words = (...names: string[]) => names.map((name) => name.split(' '));

  test('are those that names use, no common words and no countries', () =>
    expect(
      acronymsIn(['ERP core', 'CRM', 'DAY care', 'Day trip', 'HR desk', 'Payroll DE', 'ALL OF THIS IS LOUD']),
    ).toEqual(['crm', 'erp', 'hr']));

  test('stand for what a list writes out, and nothing else with these initials', () => {
    const names = words('customer relationship management', 'customer and relatoinship management', 'crm');
    const known = writtenOut(['crm'], names);
    expect(known).toEqual({ crm: 'customer relationship management' });
    const phrases = new Map([['crm', known.crm!.split(' ')]]);
    expect(withAcronyms(['customer', 'and', 'relationship', 'management', 'europe'], phrases)).toEqual([
      'crm',
      'europe',
    ]);
    for (const others of [
      'cash register monitor',
      'the customer relationship management of all sites in europe',
    ])
      expect(withAcronyms(others.split(' '), phrases)).toEqual(others.split(' '));
  });

  test('of which nobody can tell what they stand for are left alone', () => {
    expect(writtenOut(['sms'], words('sms', 'stock management service', 'sales monitor suite'))).toEqual({});
    expect(writtenOut(['itsm'], words('it service management'))).toEqual({ itsm: 'it service management' });
  });

  test('of two letters need a name that is the same otherwise', () => {
    expect(writtenOut(['hr'], words('hr desk', 'human resources'))).toEqual({});
    expect(writtenOut(['hr'], words('hr desk', 'human resources desk'))).toEqual({ hr: 'human resources' });
  });
});

test('what some write as one word and others as several is one', () => {
  const names = ['sales force', 'salesforce portal', 'office 365', 'office365', 'car port'].map((name) =>
    name.split(' '),
  );
  const joints = findCompounds(names);
  expect(joints).toEqual(['office 365', 'sales force']);
  const write = jointWriter(joints);
  const written = names.map((words) => write(words).join(' '));
  expect(written).toEqual(['salesforce', 'salesforce portal', 'office 365', 'office 365', 'car port']);
});

test('names that only their list makes one are one', () => {
  const read = nameReader({
    joints: ['print server'],
    acronyms: { lms: 'learning management system' },
    umlauts: ['mueller'],
  });
  expect(read('Print Server (PROD)')).toEqual(read('Printserver'));
  expect(read('Learning Management System')).toEqual(['lms']);
  expect(read('Mueller')).toEqual(read('Müller'));
  expect(umlautsIn([['mueller', 'blue', 'uebergabe'], ['muller', 'ubergabe'], ['poem']])).toEqual([
    'mueller',
    'uebergabe',
  ]);
});

test('a name may begin with its vendor, or not', () => {
  const dictionary = {
    acronyms: {},
    joints: [],
    umlauts: [],
    leading: { name: ['microsoft', 'docusign'] },
    alone: { name: ['docusign'] },
    series: [],
  };
  const words = wordsFor({ name: 'name', kind: 'name', without: 'vendor' }, dictionary, vendorOf);
  const of = (name: string, vendor: string | null) => words({ id: 'a', values: { name, vendor } });
  expect(of('Microsoft Excel', null)).toEqual(['excel']);
  expect(of('Contoso Ledger', 'Contoso Ltd.')).toEqual(['ledger']);
  expect(of('Order Order Desk', null)).not.toEqual(of('Order Desk', null));
  // a vendor that belongs to another one, but no product
  expect(of('VMware Horizon', null)).toEqual(['horizon']);
  expect(vendorOf(['vmware', 'horizon'])).toEqual({ name: 'Broadcom', length: 1 });
  expect(of('Tableau Server', null)).toEqual(['tableau', 'server']);
  // too little would be left
  expect(of('Microsoft 365', 'Microsoft')).toEqual(['microsoft', '365']);
  // a product called as its vendor is
  expect(of('DocuSign eSignature', 'DocuSign')).toEqual(['docusign', 'esignature']);
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
  const [best] = findDuplicates(records, {
    fields: [
      { name: 'names', kind: 'list' },
      { name: 'uses', kind: 'set' },
      { name: 'parent', kind: 'choice', weight: 0.5 },
    ],
  }).pairs;
  expect([best!.left, best!.right, best!.class]).toEqual(['a', 'b', 'match']);
  const aspects = best!.evidence.filter(({ aspect }) => ['names', 'uses', 'parent'].includes(aspect));
  expect(aspects).toMatchObject([{ similarity: 1 }, { similarity: 1 }, { similarity: 1 }]);
});
