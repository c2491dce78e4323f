import type { ImportReferences, ImportRow } from '../../../../domain/governance/risks/risks.import.ts';
import { planImport } from '../../../../domain/governance/risks/risks.import.ts';

const known: ImportReferences = {
  byReference: new Map([['R-000007', { id: 'seven', reference: 'R-000007' }]]),
  byTitle: new Map([['fire', { id: 'seven', reference: 'R-000007' }]]),
  byEmail: new Map([['ann@estate.example', 'ann']]),
  byName: new Map([
    ['bo', ['bo']],
    ['cy', ['cy one', 'cy two']],
  ]),
  cards: new Map([
    ['payroll', [{ id: 'payroll', type: 'Application' }]],
    [
      'crm',
      [
        { id: 'crm one', type: 'Application' },
        { id: 'crm two', type: 'ITComponent' },
      ],
    ],
  ]),
};
const row = (more: Partial<ImportRow>): ImportRow => ({
  row_index: 1,
  title: 'Flood',
  description: '',
  category: 'operational',
  initial_probability: 'medium',
  initial_impact: 'medium',
  status: 'identified',
  ...more,
});
const one = (more: Partial<ImportRow>) => planImport([row(more)], known, 'me')[0]!;

it('is created with what it names', () => {
  const more = { title: ' Flood ', owner_email: 'ANN@estate.example', card_names: ['Payroll', 'payroll'] };
  expect(one(more)).toMatchObject({
    status: 'created',
    warnings: [],
    draft: {
      values: { title: 'Flood', owner_id: 'ann', status: 'identified' },
      cards: [{ id: 'payroll', type: 'Application' }],
    },
  });
});

it('warns of owners and cards that it cannot identify', () => {
  expect(one({ owner_email: 'no@estate.example', owner_name: 'Bo' })).toMatchObject({
    warnings: [],
    draft: { values: { owner_id: 'bo' } },
  });
  expect(one({ owner_name: 'Cy' }).warnings).toEqual(['several users are called Cy: nobody owns the risk']);
  expect(one({ owner_email: 'no@estate.example' }).warnings).toEqual(['no active user is no@estate.example']);
  expect(one({ card_names: ['CRM', 'ERP'] })).toMatchObject({
    warnings: ['several cards are called CRM', 'no active card is called ERP'],
    draft: { cards: [] },
  });
});

it('is skipped where the register, or a row before, has it', () => {
  expect(one({ title: 'Fire' })).toMatchObject({ status: 'skipped', known: { id: 'seven' } });
  expect(one({ reference: 'r-000007' })).toMatchObject({ status: 'skipped', known: { id: 'seven' } });
  const rows = [
    row({}),
    row({ title: 'FLOOD' }),
    row({ title: 'Theft', reference: 'X' }),
    row({ title: 'Loss', reference: 'x' }),
  ];
  const statuses = planImport(rows, known, null).map(({ status }) => status);
  expect(statuses).toEqual(['created', 'skipped', 'created', 'skipped']);
});

it('fails for what the register does not know, and then keeps no title', () => {
  const failed = row({ title: 'Flood', category: 'weather', residual_impact: 'huge' });
  const [first, second] = planImport([failed, row({})], known, null);
  expect(first).toMatchObject({ status: 'failed' });
  expect((first as { error: string }).error).toMatch(/^category: is none of .*; residual_impact: is none of/);
  expect(second!.status).toBe('created');
  expect(one({ title: '  ' })).toMatchObject({ status: 'failed', error: 'title: must not be blank' });
});

it('that is accepted already is accepted in the name of the importing user', () =>
  expect(one({ status: 'accepted' })).toMatchObject({
    draft: { values: { accepted_by: 'me', acceptance_rationale: 'Accepted before it was imported.' } },
    warnings: ['accepted in the name of the importing user, because the row has no rationale'],
  }));
