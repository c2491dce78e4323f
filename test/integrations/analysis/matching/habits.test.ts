import { clustersOf } from '../../../../integrations/analysis/matching/clusters.ts';
import { findDuplicates } from '../../../../integrations/analysis/matching/match.ts';

const clusters = (names: readonly string[]): string[][] => {
  const records = names.map((name, at) => ({ id: `${100 + at}`, values: { name } }));
  return clustersOf(findDuplicates(records, { fields: [{ name: 'name', kind: 'name' }] }).pairs)
    .map(({ ids }) => ids.map((id) => names[Number(id) - 100]!).sort())
    .sort();
};

test('what people write in their own ways is found, what is only called nearly so is not', () => {
  const things = [
    ['SAP ERP', 'SAP ERP Prod', 'SAP-ERP', 'SAP ERP System'],
    ['Salesforce', 'Sales Force', 'SalesForce.com'],
    ['Microsoft Office', 'MS Office'],
    ['Service Now', 'ServiceNow'],
    ['HR Portal', 'Human Resources Portal'],
    ['Customer Portal', 'Kundenportal'],
    ['Web Shop B2B', 'Webshop B2B'],
    ['Web Shop B2C', 'WebShop (B2C)'],
    ['Payroll DE', 'Payroll - Germany'],
    ['Billing v2', 'Billing 2.0'],
    ['Master Data Management', 'MDM'],
    ['Claims Mgmt System', 'Claims Management'],
    ['Zeiterfassung', 'Time Tracking Tool'],
    ['Intranet', 'Copy of Intranet'],
    ['E-Mail Gateway', 'Email Gateway'],
  ];
  const others = [
    ...['SAP ERP Test', 'SAP ERP QAS', 'SAP BW', 'SAP SRM', 'SAP HCM', 'Oracle EBS Finance', 'Oracle EBS HR'],
    ...['Supplier Portal', 'Partner Portal', 'Dealer Portal', 'Payroll AT', 'Billing v1'],
    ...['SharePoint 2013', 'SharePoint 2016', 'Lager Nord', 'Lager Süd', 'Host A', 'Host B'],
    ...['Fleet Manager', 'Treasury Workstation', 'Cash Register Monitor', 'Contract Lifecycle'],
  ];
  expect(clusters([...things.flat(), ...others])).toEqual(things.map((names) => names.toSorted()).sort());
});

test('companies are found under any of their forms', () => {
  const things = [
    ['Deutsche Telekom AG', 'Deutsche Telekom'],
    ['Capgemini SE', 'Cap Gemini'],
    ['Société Générale S.A.', 'Societe Generale'],
    ['Müller & Söhne OHG', 'Mueller und Soehne'],
    ['Huawei Technologies Co., Ltd.', 'Huawei'],
    ['J.P. Morgan Chase & Co.', 'JPMorgan Chase'],
    ['The Boeing Company', 'Boeing'],
    ['PricewaterhouseCoopers LLP', 'Pricewaterhouse Coopers'],
    ['株式会社日立製作所', '日立製作所'],
    ['Ørsted A/S', 'Orsted'],
  ];
  const others = [
    ...['Müller Maschinenbau GmbH', 'Schmidt Logistik GmbH', 'Schmidt Elektrotechnik GmbH', 'Morgan Stanley'],
    ...[
      'Bosch Rexroth AG',
      'Robert Bosch GmbH',
      'Orange S.A.',
      'Vodafone Kabel Deutschland GmbH',
      'Vodafone',
    ],
    ...['Airbus SE', 'KPMG AG', 'Telefónica S.A.', 'Hitachi Rail Ltd.', 'Koninklijke Philips N.V.'],
  ];
  expect(clusters([...things.flat(), ...others])).toEqual(things.map((names) => names.toSorted()).sort());
});
