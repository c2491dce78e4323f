import { type CheckedCondition, checkFilter } from '../../../../domain/inventory/filters/filters.check.ts';
import { parseFilter } from '../../../../domain/inventory/filters/filters.parser.ts';
import { EstateError } from '../../../../platform/errors.ts';
import refusals from './filters.check.refusals.json' with { type: 'json' };
import { regionGroup, sampleSchema, slashGroup } from './sample-schema.ts';

const schema = sampleSchema();
const check = (text: string) => checkFilter(parseFilter(text)!, schema);
const condition = (text: string) => check(text).root as CheckedCondition;

function faultOf(text: string): EstateError {
  try {
    check(text);
  } catch (error) {
    if (error instanceof EstateError) return error;
    throw error;
  }
  throw new Error(`"${text}" was taken`);
}

describe('reading values by the type of the field', () => {
  it.each([
    ['name = 2024', 'text', ['2024']],
    ['name = "me"', 'text', ['me']],
    ['type in (Application, "Lab")', 'key', ['Application', 'Lab']],
    ['attributes.tier = 7', 'key', ['7']],
    ['attributes.topics != physics', 'keys', ['physics']],
    ['attributes.size between -1 and +2.5e1', 'number', [-1, 25]],
    ['attributes.price > 0', 'number', [0]],
    ['attributes.size = -0', 'number', [0]],
    ['attributes.open = TRUE', 'boolean', [true]],
    ['attributes.since >= "2024-02-29"', 'date', ['2024-02-29']],
    ['lifecycle.endOfLife < 2027-01-01', 'date', ['2027-01-01']],
    ['updated_at > 2026-01-01', 'moment', [{ from: '2026-01-01T00:00:00.000Z', span: 'day' }]],
    [
      'updated_at > 2026-01-01t02:00:00.1239+02:00',
      'moment',
      [{ from: '2026-01-01T00:00:00.123Z', span: 'millisecond' }],
    ],
    ['parent = 0193F5A1-1111-7222-8333-444455556666', 'id', ['0193f5a1-1111-7222-8333-444455556666']],
    [
      'stakeholder in (me, "a@b.c", 0193f5a1-1111-7222-8333-444455556666)',
      'person',
      [{ me: true }, { email: 'a@b.c' }, { id: '0193f5a1-1111-7222-8333-444455556666' }],
    ],
    ['tags = "region/EU"', 'tag', [{ groupId: regionGroup.id, name: 'EU' }]],
    ['tags = "In/Out/a/b"', 'tag', [{ groupId: slashGroup.id, name: 'a/b' }]],
    ['tags.Region = "a/b"', 'tag', [{ groupId: regionGroup.id, name: 'a/b' }]],
  ])('%s', (text, kind, values) => {
    expect(condition(text).tests).toEqual([expect.objectContaining({ kind, values })]);
  });

  it('reads a value in each way that the card types give its key', () => {
    expect(condition('attributes.mixed = 5').tests).toEqual([
      { kind: 'text', operator: 'in', values: ['5'] },
      { kind: 'number', operator: 'in', values: [5] },
    ]);
    expect(condition('attributes.mixed = "5"').tests).toEqual([
      { kind: 'text', operator: 'in', values: ['5'] },
    ]);
    expect(condition('attributes.mixed in (5, x)').tests).toEqual([
      { kind: 'text', operator: 'in', values: ['5', 'x'] },
      { kind: 'number', operator: 'in', values: [5] },
    ]);
    expect(condition('attributes.mixed > 5').tests).toEqual([{ kind: 'number', operator: '>', values: [5] }]);
    expect(condition('attributes.mixed ~ 5').tests).toEqual([{ kind: 'text', operator: '~', values: ['5'] }]);
  });

  it('follows relations to the type at the other end', () => {
    expect(condition('relation.relAppToITC.target.relation.relITCSuccessor.description ~ x')).toBeDefined();
    expect(condition('relation.relAppToITC.source.attributes.businessCriticality is empty')).toMatchObject({
      steps: [{ type: 'relAppToITC', other: 'source', about: 'card' }],
      target: { kind: 'attribute', key: 'businessCriticality' },
      tests: 'present',
      negated: true,
    });
    expect(faultOf('relation.relAppToITC.target.attributes.businessCriticality is empty')).toMatchObject({
      errors: [{ code: 'filter_unknown_field' }],
      extra: { position: 40 },
    });
  });
});

describe('what a filter asks about', () => {
  it('names its cost attributes, on cards, related cards and relations, also below not', () => {
    const text = `attributes.costTotalAnnual > 1 or not attributes.price is empty
      or relation.relAppToITC.target.attributes.costTotalAnnual > 1
      or relation.relAppToITC.attributes.costTotalAnnual = 5 or attributes.size = 1`;
    expect(check(text).costs).toEqual(
      new Set([
        'attributes.costTotalAnnual',
        'attributes.price',
        'relation.relAppToITC.target.attributes.costTotalAnnual',
        'relation.relAppToITC.attributes.costTotalAnnual',
      ]),
    );
    expect(check('name = x').costs.size).toBe(0);
  });

  it('tells whether relations or other people are asked about', () => {
    expect(check('name = x')).toMatchObject({ relations: false, stakeholders: false });
    expect(check('not (name = x or relation.relAppToITC exists)').relations).toBe(true);
    expect(check('stakeholder = me or not stakeholder.responsible != me').stakeholders).toBe(false);
    expect(check('stakeholder in (me, "a@b.c")').stakeholders).toBe(true);
    expect(check('stakeholder.responsible is empty').stakeholders).toBe(true);
    expect(check('name = x and attributes.businessCriticality is empty').authors).toBe(false);
    for (const text of ['created_by = me', 'not (name = x or updated_by is empty)'])
      expect(check(text).authors, text).toBe(true);
    expect(check('relation.relAppToITC.target.created_by = me').authors).toBe(true);
  });
});

describe('refusing', () => {
  it.each(refusals as [string, string, number][])('%s', (text, code, position) => {
    const fault = faultOf(text);
    expect(fault.status).toBe(422);
    expect(fault.errors).toMatchObject([{ field: 'filter', code }]);
    expect(fault.extra.position).toBe(position);
    expect(fault.message).toContain(` at position ${position}`);
  });

  it('follows three relations in a row, and no more', () => {
    const step = 'relation.relITCSuccessor.target';
    expect(check(`${[step, step, step].join('.')}.name = x`)).toBeDefined();
    expect(faultOf(`${[step, step, step, step].join('.')}.name = x`)).toMatchObject({
      errors: [{ code: 'filter_limit' }],
    });
  });

  it('tells what is known instead', () => {
    expect(faultOf('attributes.tier = bronze').extra.expected).toEqual(['gold', 'silver', '7']);
    expect(faultOf('Name = x').extra.expected).toEqual(['name']);
    const { expected } = faultOf('lifecycle.dead is empty').extra;
    expect(expected).toEqual(['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife']);
    expect(faultOf('type ~ x').errors![0]!.message).toBe(
      '"type" does not take "~" (but =, in, !=, not in, is empty or is not empty) at position 6',
    );
  });
});
