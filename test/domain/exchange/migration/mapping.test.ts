import { convertRow } from '../../../../domain/exchange/migration/convert.ts';
import { addressesOf } from '../../../../domain/exchange/migration/convert.values.ts';
import { guessType } from '../../../../domain/exchange/migration/mapping.guess.ts';
import {
  checkMappings,
  mapBlocks,
  readonlyReason,
  unmapped,
} from '../../../../domain/exchange/migration/mapping.ts';
import {
  columnTargets,
  describeTarget,
  guessRecordColumn,
  kindOfSheet,
} from '../../../../domain/exchange/migration/record-kinds.ts';
import type { SourceBlock } from '../../../../domain/exchange/migration/source.types.ts';
import { compileField } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { seededMetamodel } from '../../inventory/cards/seeded-metamodel.ts';
import noCards from './mapping.no-cards.json' with { type: 'json' };
import expectedPayroll from './mapping.payroll.json' with { type: 'json' };
import applicationTargets from './mapping.targets.json' with { type: 'json' };

const metamodel = seededMetamodel();
const block = (native_type: string, ...keys: string[]): SourceBlock => ({
  native_type,
  rows: 1,
  columns: keys.map((key) => ({ key, label: null, values: 1, data_type: 'text' })),
});
const mapped = (
  blocks: SourceBlock[],
  saved: Parameters<typeof mapBlocks>[3] = null,
  source = 'leanix' as const,
) => mapBlocks(metamodel, source, blocks, saved);
const targets = (blocks: SourceBlock[], saved?: Parameters<typeof mapBlocks>[3]) =>
  Object.fromEntries(mapped(blocks, saved ?? null)[0]!.columns);

it.each([
  ['Application', 'Application'],
  ['applications', 'Application'],
  ['IT Component', 'ITComponent'],
  ['BusinessCapabilities', 'BusinessCapability'],
  ['Process', 'BusinessProcess'],
  ['UserGroup', 'Organization'],
  ['Project', 'Initiative'],
  ['TechnicalStack', 'TechCategory'],
  ['constructor', undefined],
  ['Microservice', undefined],
])('kinds of things: %s is %s', (native, type) => expect(guessType(metamodel, native)).toBe(type));

describe('columns', () => {
  it('of a snapshot are found by their names', () => {
    const blocks = [
      block(
        'Application',
        'id',
        'type',
        'externalId',
        'displayName',
        'name',
        'lifecycle:phaseOut',
        'technicalSuitability',
        'Functional Suitability',
        'lxTimeClassification',
        'tags',
        'tags:Region',
        'subscriptions:RESPONSIBLE',
        'subscriptions:ACCOUNTABLE',
        'relToParent',
        'relToChild',
        'relToSuccessor',
        'relApplicationToITComponent',
        'relProviderApplicationToInterface',
        'relApplicationToUserGroup',
        'constructor',
        '__proto__',
      ),
    ];
    expect(targets(blocks)).toEqual(applicationTargets);
    expect(unmapped(mapped(blocks)[0]!, 'leanix').map(({ key }) => key)).toEqual([
      'externalId',
      'subscriptions:ACCOUNTABLE',
      'relToChild',
      'constructor',
      '__proto__',
    ]);
  });

  it('keep what their names say where nothing else was saved, and give way where it was', () => {
    const blocks = [block('Application', 'id', 'name', 'alias', 'other')];
    const saved = { Application: { other: 'name', alias: '' } };
    expect(targets(blocks, saved)).toEqual({ id: 'external_id', other: 'name', alias: '' });
    expect(mapped(blocks, saved)[0]).toMatchObject({ leftOut: false, guessed: new Set(['id']) });
  });

  it('of what stands for no card type, or is left out, mean nothing', () => {
    const left = mapped([block('Application', 'id', 'name')], { Application: { $type: '' } })[0]!;
    expect([left.type, left.leftOut, left.columns.size]).toEqual([undefined, true, 0]);
    expect(mapped([block('Thing', 'id')])[0]).toMatchObject({ type: undefined, leftOut: false });
  });
});

describe('rows that are no cards', () => {
  it.each(noCards as [string, string[], 'leanix' | 'sheet', string][])(
    '%s with %j of a %s has rows of the kind %s',
    (sheet, heads, source, kind) => expect(kindOfSheet(sheet, heads, source)).toBe(kind),
  );

  it('are relations of the one type that joins their ends, the older before its successor', () => {
    const between = (native: string, source: string, target: string) => {
      const one = {
        ...block(native, 'source', 'target'),
        kind: 'relation' as const,
        ends: { source, target },
      };
      return describeTarget(mapped([one])[0]!.target).key;
    };
    expect(between('r', 'Application', 'ITComponent')).toBe('relations.relAppToITC');
    expect(between('r', 'ITComponent', 'Application')).toBe('relations.relAppToITC.reverse');
    expect(between('applicationSuccessorRelation', 'Application', 'Application')).toBe(
      'relations.relAppSuccessor.reverse',
    );
    expect(between('childParentRelation', 'Application', 'Application')).toBe('$parents');
    expect(between('r', 'Application', 'Microservice')).toBeNull();
  });
});

describe('a row', () => {
  it('tells values of the one relation that it names, of a role by its kind or its name, and costs to nobody else', () => {
    const cells = {
      name: 'A',
      'subscriptions:RESPONSIBLE': 'ann@x.example',
      'subscriptions:RESPONSIBLE:Application Owner': 'ANN@x.example',
      'relApplicationToITComponent:displayName': 'Disk',
      'relApplicationToITComponent:Annual Cost': '5',
      'relApplicationToITComponent:description': 'Fast',
      'relApplicationToUserGroup:usageType': 'owner',
    };
    const [one] = mapped([
      block('Application', ...Object.keys(cells)),
      block('UserGroup'),
      block('ITComponent'),
    ]);
    const row = { line: 1, sheet: 'S', row: 2, native_type: 'Application', cells };
    const convert = (seesCosts: boolean) =>
      convertRow({ ...one!, type: one!.type! }, row, { seesCosts, relationTypes: metamodel.relationTypes });
    const { refs, left_out } = convert(true);
    expect(refs.holders).toEqual([{ role: 'responsible', email: 'ANN@x.example' }]);
    expect(refs.relations).toMatchObject([
      {
        type: 'relAppToITC',
        items: ['Disk'],
        values: { description: 'Fast', attributes: { costTotalAnnual: 5 } },
      },
    ]);
    expect(left_out).toEqual([
      {
        field: 'relApplicationToUserGroup:usageType',
        code: 'which_relation',
        message: 'the row names no such relation',
      },
    ]);
    expect(convert(false).refs.relations![0]!.values).toEqual({ description: 'Fast' });
    expect(convert(false).left_out[0]).toMatchObject({ code: 'forbidden' });
  });

  it('leaves out a value that its field does not take, and keeps the others', () => {
    const cells = { name: 'Hire', documentationUrl: 'javascript:alert(1)', regulatoryRelevance: 'yes' };
    const [one] = mapped([block('BusinessProcess', ...Object.keys(cells))]);
    const row = { line: 1, sheet: 'S', row: 2, native_type: 'BusinessProcess', cells };
    const { payload, left_out } = convertRow({ ...one!, type: one!.type! }, row, { seesCosts: true });
    expect(payload.attributes).toEqual({ regulatoryRelevance: true });
    expect(left_out).toMatchObject([{ field: 'documentationUrl', code: 'bad_url' }]);
  });

  const convert = (cells: Record<string, string>, seesCosts = true) => {
    const [one] = mapped([block('Application', ...Object.keys(cells))]);
    const row = { line: 1, sheet: 'S', row: 2, native_type: 'Application', cells };
    return convertRow({ ...one!, type: one!.type! }, row, { seesCosts });
  };

  it('becomes a card, with what it names beside it', () => {
    const made = convert({
      id: 'a-1',
      displayName: 'Suite / Payroll',
      'lifecycle:active': '2020-01-31T00:00:00Z',
      businessCriticality: 'mission-critical',
      commercialApplication: 'Yes',
      numberOfUsers: '12',
      tags: 'Phase: One; Two\nArea/North',
      'tags:Region': 'West',
      'subscriptions:RESPONSIBLE': 'Ann <ann@x.example>; bob@x.example',
      relApplicationToITComponent: 'it-1;it-1;\n it-2 ',
    });
    expect(made).toMatchObject(expectedPayroll);
  });

  it('leaves out values that stand for nothing, says which, and never what costs are', () => {
    const { left_out, payload } = convert({
      name: 'A',
      businessCriticality: 'golden',
      costTotalAnnual: 'a secret',
      numberOfUsers: 'many',
      commercialApplication: 'perhaps',
      'lifecycle:plan': '31.01.2020',
      'subscriptions:RESPONSIBLE': 'Ann',
    });
    expect(payload).toEqual({ type: 'Application', name: 'A' });
    expect(left_out.map(({ field, code }) => `${field} ${code}`)).toEqual([
      'businessCriticality unknown_option',
      'costTotalAnnual wrong_type',
      'numberOfUsers wrong_type',
      'commercialApplication wrong_type',
      'lifecycle:plan bad_date',
      'subscriptions:RESPONSIBLE bad_stakeholder',
    ]);
    expect(JSON.stringify(left_out)).not.toContain('secret');
    expect(convert({ name: 'A', costTotalAnnual: '5' }, false).left_out).toEqual([
      { field: 'costTotalAnnual', code: 'forbidden', message: 'needs the permission costs.view' },
    ]);
  });
});

it('takes the column type of people on cards for the kind of the card or of the role, by what else there is', () => {
  const target = { kind: 'subscription' } as const;
  const targets = columnTargets(metamodel, target);
  const meaning = (heads: string[]) => guessRecordColumn('leanix', target, 'type', targets, heads);
  expect(meaning(['factSheet', 'type', 'user'])).toBe('role_type');
  expect(meaning(['factSheet', 'type', 'user', 'roles'])).toBe('card_type');
  expect(meaning(['factSheet', 'factSheetType', 'type', 'user', 'roles'])).toBe('role_type');
});

it('finds addresses in whatever they stand, in a time that grows with the cell alone', () => {
  const emails = addressesOf('Ann <ann@x.example>, "bob@x.example";(c@d)\n@ a@ @b x');
  expect(emails).toEqual(['ann@x.example', 'bob@x.example', 'c@d']);
  const started = performance.now();
  expect(addressesOf('a'.repeat(100_000))).toEqual([]);
  expect(performance.now() - started).toBeLessThan(1_000);
});

describe('read-only fields', () => {
  const withTotal = (calculated: boolean): typeof metamodel => {
    const type = metamodel.cardTypes.get('Application')!;
    const field = { key: 'total', label: 'Total sum', type: 'number', weight: 0, readonly: true } as const;
    const fields = new Map([...type.fields, ['total', compileField(field, calculated)]]);
    return {
      ...metamodel,
      cardTypes: new Map([...metamodel.cardTypes, ['Application', { ...type, fields }]]),
    };
  };
  it.each([
    ['calculated', true, 'a formula computes total: it cannot be imported'],
    ['readonly', false, 'the service sets total: it cannot be imported'],
  ])('refuse a column as %s', (code, calculated, message) => {
    const around = withTotal(calculated);
    const app = block('Application', 'id', 'sum');
    const one = mapBlocks(around, 'leanix', [app], null)[0]!;
    for (const to of ['total', 'attributes.total']) {
      const { errors } = checkMappings(around, [app], { Application: { sum: to } }, () => one.target);
      expect(errors).toEqual([{ field: 'field_mappings.Application.sum', code, message }]);
    }
    expect(readonlyReason(one, 'Total sum')).toBe(message);
    expect(readonlyReason(one, 'sum')).toBeUndefined();
  });
});
