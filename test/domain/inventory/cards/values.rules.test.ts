import fc from 'fast-check';
import { checkLevel, levelAt, maxDepth } from '../../../../domain/inventory/cards/rules/capability.ts';
import { type CardState, costKeysIn, diffCard } from '../../../../domain/inventory/cards/rules/diff.ts';
import {
  mergeAttributes,
  mergeLifecycle,
  newCardValues,
  patchedValues,
} from '../../../../domain/inventory/cards/rules/merge.ts';
import {
  approvalAfter,
  dataQuality,
  missingForApproval,
  noFacts,
  qualityFacts,
} from '../../../../domain/inventory/cards/rules/quality.ts';
import { checkLifecycleOrder } from '../../../../domain/inventory/cards/rules/values.ts';
import { forAll } from '../../../support/property.ts';
import { seededMetamodel } from './seeded-metamodel.ts';

const card: CardState = {
  id: '0198c0de-0000-7000-8000-000000000001',
  number: 'APP-00001',
  type: 'Application',
  ...newCardValues({ name: 'Claims', attributes: { timeModel: 'invest', costTotalAnnual: 5 } }),
  status: 'ACTIVE',
  approval_status: 'DRAFT',
  data_quality: 20,
  archived_at: null,
};

describe('merging', () => {
  it('merges attributes key by key; null, empty texts and empty lists clear', () => {
    const stored = { a: 1, b: 'x', c: ['y'], d: false };
    expect(mergeAttributes(stored, undefined)).toBe(stored);
    expect(mergeAttributes(stored, { a: null, b: '', c: [], e: 2 })).toEqual({ d: false, e: 2 });
    expect(mergeAttributes(stored, null)).toEqual({});
    expect(mergeAttributes(stored, null, ['a', 'z'])).toEqual({ a: 1 });
  });

  it('is RFC 7396 for flat objects', () => {
    const flat = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer());
    const patch = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.option(fc.integer()));
    forAll(100, [flat, patch], (stored, sent) => {
      const merged: Record<string, unknown> = { ...stored, ...sent };
      for (const key of Object.keys(merged)) if (merged[key] === null) delete merged[key];
      expect(mergeAttributes(stored, sent)).toEqual(merged);
      expect(mergeAttributes(mergeAttributes(stored, sent), sent)).toEqual(merged);
    });
  });

  it('merges a lifecycle phase by phase, null when none is left', () => {
    expect(mergeLifecycle(null, undefined)).toBeNull();
    expect(mergeLifecycle({ plan: '2020-01-01' }, { active: '2021-01-01' })).toEqual({
      plan: '2020-01-01',
      active: '2021-01-01',
    });
    expect(mergeLifecycle({ plan: '2020-01-01' }, { plan: null })).toBeNull();
    expect(mergeLifecycle({ plan: '2020-01-01' }, null)).toBeNull();
    expect(mergeLifecycle(null, {})).toBeNull();
  });

  it('patches what is sent and clears by null', () => {
    const after = patchedValues(card, { alias: 'C', attributes: null, description: null }, [
      'costTotalAnnual',
    ]);
    expect(after).toEqual({
      ...newCardValues({ name: 'Claims' }),
      alias: 'C',
      attributes: { costTotalAnnual: 5 },
    });
    expect(patchedValues(card, {})).toEqual(newCardValues(card));
  });
});

it('names each phase that lies before an earlier one', () => {
  expect(checkLifecycleOrder({ plan: '2020-01-01', active: '2020-01-01', endOfLife: '2021-01-01' })).toEqual(
    [],
  );
  expect(
    checkLifecycleOrder({ plan: '2022-01-01', active: '2020-01-01', endOfLife: '2021-01-01' }).map(
      (fault) => fault.field,
    ),
  ).toEqual(['lifecycle.active', 'lifecycle.endOfLife']);
});

it('differences lists changes, creations and deletions in one form', () => {
  const after = {
    ...card,
    name: 'Claims 2',
    lifecycle: { active: '2020-01-01' },
    attributes: { costTotalAnnual: 6 },
  };
  const changes = diffCard(card, after);
  expect(changes).toEqual({
    name: { old: 'Claims', new: 'Claims 2' },
    'lifecycle.active': { old: null, new: '2020-01-01' },
    'attributes.timeModel': { old: 'invest', new: null },
    'attributes.costTotalAnnual': { old: 5, new: 6 },
  });
  expect(costKeysIn(changes, ['costTotalAnnual'])).toEqual(['attributes.costTotalAnnual']);
  expect(costKeysIn({}, ['costTotalAnnual'])).toBeNull();
  expect(diffCard(null, card)).toEqual({
    number: { old: null, new: 'APP-00001' },
    name: { old: null, new: 'Claims' },
    status: { old: null, new: 'ACTIVE' },
    approval_status: { old: null, new: 'DRAFT' },
    data_quality: { old: null, new: 20 },
    'attributes.timeModel': { old: null, new: 'invest' },
    'attributes.costTotalAnnual': { old: null, new: 5 },
  });
  const gone = diffCard(card, null);
  expect(gone.name).toEqual({ old: 'Claims', new: null });
  expect(Object.keys(gone)).toEqual(Object.keys(diffCard(null, card)));
  expect(diffCard(card, { ...card, attributes: { ...card.attributes } })).toEqual({});
});

it('differences compares lists by their items, and never looks into prototypes', () => {
  const withList = { ...card, attributes: { list: ['a', 'b'] } };
  expect(diffCard(withList, { ...card, attributes: { list: ['a', 'b'] } })).toEqual({});
  expect(diffCard(withList, { ...card, attributes: { list: ['b', 'a'] } })).not.toEqual({});
  expect(diffCard({ ...card, attributes: {} }, { ...card, attributes: { constructor: 'x' } })).toEqual({
    'attributes.constructor': { old: null, new: 'x' },
  });
});

describe('approval', () => {
  it.each([
    ['name', 'BROKEN'],
    ['description', 'BROKEN'],
    ['subtype', 'BROKEN'],
    ['alias', 'BROKEN'],
    ['parent_id', 'BROKEN'],
    ['lifecycle.active', 'BROKEN'],
    ['attributes.timeModel', 'BROKEN'],
    ['external_id', 'APPROVED'],
    ['status', 'APPROVED'],
    ['data_quality', 'APPROVED'],
  ])('a change of %s leaves an approved card %s', (field, status) => {
    expect(approvalAfter('APPROVED', { [field]: { old: 1, new: 2 } })).toBe(status);
    for (const other of ['DRAFT', 'REJECTED', 'BROKEN'] as const)
      expect(approvalAfter(other, { [field]: { old: 1, new: 2 } })).toBe(other);
  });

  const metamodel = seededMetamodel({
    relationTypes: { relProviderToApp: { target_mandatory: true } },
    tagGroups: [
      { id: 'g1', name: 'Region', mode: 'multi', mandatory: true, restrict_to_types: null, has_tags: true },
      {
        id: 'g2',
        name: 'Other',
        mode: 'multi',
        mandatory: true,
        restrict_to_types: ['Provider'],
        has_tags: true,
      },
    ],
  });

  it('names what is missing for it', () => {
    const type = metamodel.cardTypes.get('Application')!;
    const none = { relations: new Set<string>(), tagGroups: new Set<string>(), roles: new Set<string>() };
    expect(missingForApproval(type, none)).toEqual({
      missing_relations: [{ type: 'relProviderToApp', side: 'target', label: expect.any(String) }],
      missing_tag_groups: [{ id: 'g1', name: 'Region' }],
    });
    const all = {
      relations: new Set(['relProviderToApp/target']),
      tagGroups: new Set(['g1']),
      roles: new Set(['responsible', 'gone']),
    };
    expect(missingForApproval(type, all)).toEqual({ missing_relations: [], missing_tag_groups: [] });
    const facts = qualityFacts(type, all);
    expect(facts).toEqual({ filledMandatoryRelations: 1, filledMandatoryTagGroups: 1, filledRoles: 1 });
  });
});

it('capability levels follow from the depth, one less below a Macro', () => {
  const levels = (underMacro: boolean) =>
    Array.from({ length: maxDepth(underMacro) }, (_, n) => levelAt({ depth: n + 1, underMacro }));
  expect(levels(false)).toEqual(['L1', 'L2', 'L3', 'L4', 'L5']);
  expect(levels(true)).toEqual(['Macro', 'L1', 'L2', 'L3', 'L4', 'L5']);
});

it('capability levels take Macro on roots alone, and what they are anyway', () => {
  const codes = (sent: unknown, depth: number, underMacro = false) =>
    checkLevel(sent, levelAt({ depth, underMacro })).map((fault) => fault.code);
  expect(codes('Macro', 1, true)).toEqual([]);
  expect(codes('Macro', 2)).toEqual(['macro_not_root']);
  expect(codes('L2', 2)).toEqual([]);
  expect(codes('L3', 2)).toEqual(['readonly']);
  expect(codes(null, 2)).toEqual([]);
  expect(codes(undefined, 2)).toEqual([]);
});

describe('data quality', () => {
  const application = seededMetamodel().cardTypes.get('Application')!;
  const empty = newCardValues({ name: 'x' });

  it('is the filled share of all weights: fields 12, description, lifecycle and four roles', () => {
    expect(dataQuality(application, empty, noFacts)).toBe(0);
    expect(dataQuality(application, { ...empty, description: ' ' }, noFacts)).toBe(0);
    expect(dataQuality(application, { ...empty, description: 'x' }, noFacts)).toBe(5.6);
    expect(dataQuality(application, { ...empty, attributes: { timeModel: 'invest' } }, noFacts)).toBe(16.7);
    expect(dataQuality(application, { ...empty, attributes: { hasAiFeatures: false } }, noFacts)).toBe(0);
    expect(dataQuality(application, { ...empty, attributes: { costTotalAnnual: 0 } }, noFacts)).toBe(5.6);
    expect(dataQuality(application, { ...empty, lifecycle: { plan: '2020-01-01' } }, noFacts)).toBe(5.6);
    expect(dataQuality(application, empty, { ...noFacts, filledRoles: 4 })).toBe(22.2);
  });

  it('is 100 when all is filled', () => {
    const full = {
      ...empty,
      description: 'x',
      lifecycle: { active: '2020-01-01' },
      attributes: Object.fromEntries([...application.fields.keys()].map((key) => [key, 1])),
    };
    expect(dataQuality(application, full, { ...noFacts, filledRoles: 4 })).toBe(100);
  });

  it('leaves out what the subtype hides and takes the weights of the type', () => {
    const type = seededMetamodel({
      cardTypes: {
        Application: {
          subtypes: [{ key: 'plain', label: 'Plain', hidden_fields: ['timeModel', 'businessCriticality'] }],
          section_config: { __dataQuality: { stakeholders: 0, description: 5, lifecycle: -1 } },
        },
      },
      relationTypes: { relProviderToApp: { target_mandatory: true } },
    }).cardTypes.get('Application')!;
    // 7 for the fields, 5 for the description, 1 for the mandatory relation
    expect(dataQuality(type, { ...empty, subtype: 'plain', description: 'x' }, noFacts)).toBe(38.5);
    expect(
      dataQuality(type, { ...empty, subtype: 'plain' }, { ...noFacts, filledMandatoryRelations: 1 }),
    ).toBe(7.7);
  });

  it('is 0 when nothing counts', () => {
    const type = seededMetamodel({
      cardTypes: {
        Application: {
          fields_schema: [],
          section_config: { __dataQuality: { stakeholders: 0, description: 0, lifecycle: 0 } },
        },
      },
    }).cardTypes.get('Application')!;
    expect(dataQuality(type, { ...empty, description: 'x' }, noFacts)).toBe(0);
  });
});
