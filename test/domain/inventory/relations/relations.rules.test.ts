import fc from 'fast-check';
import type { RelationEnd, StoredRelation } from '../../../../domain/inventory/relations/relations.model.ts';
import {
  diffRelation,
  limitedSides,
  requireFittingEnds,
  requireRelationType,
  validateRelationInput,
  withInput,
} from '../../../../domain/inventory/relations/relations.rules.ts';
import { createWorkingSet } from '../../../../domain/inventory/relations/relations.working-set.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { forAll } from '../../../support/property.ts';
import { seededMetamodel } from '../cards/seeded-metamodel.ts';

const metamodel = seededMetamodel({
  cardTypes: { BusinessContext: { is_hidden: true } },
  relationTypes: {
    relOrgToApp: { cardinality: '1:n' },
    relPlatformToApp: { cardinality: '1:1' },
    relAppToDataObj: { is_hidden: true },
  },
});
const typeOf = (key: string) => metamodel.relationTypes.get(key)!;
const end = (id: string, type: string, status: RelationEnd['status'] = 'ACTIVE'): RelationEnd => ({
  id,
  type,
  status,
  name: id,
  myRoles: [],
});

function refusal(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof EstateError)
      return error.errors?.map((fault) => `${fault.field}: ${fault.code}`) ?? [error.code];
    throw error;
  }
  return [];
}

describe('relation rules', () => {
  it('know the types that are shown with both their ends', () => {
    expect(requireRelationType(metamodel, 'relAppToITC').key).toBe('relAppToITC');
    for (const key of ['relNope', 'relAppToDataObj', 'relAppToBizCtx', 'constructor'])
      expect(refusal(() => requireRelationType(metamodel, key))).toEqual(['type: unknown_type']);
  });

  it('let only active cards of the right types be ends', () => {
    const type = typeOf('relAppToITC');
    const [app, part] = [end('a', 'Application'), end('b', 'ITComponent')];
    expect(requireFittingEnds(type, app, part)).toEqual({ source: app, target: part });
    expect(refusal(() => requireFittingEnds(type, part, app))).toEqual([
      'source_id: end_type',
      'target_id: end_type',
    ]);
    expect(refusal(() => requireFittingEnds(type, undefined, end('b', 'ITComponent', 'ARCHIVED')))).toEqual([
      'source_id: unknown_card',
      'target_id: end_archived',
    ]);
    expect(refusal(() => requireFittingEnds(typeOf('relAppSuccessor'), app, app))).toEqual([
      'target_id: same_card',
    ]);
  });

  it('check values, merge them and tell what differs', () => {
    const type = typeOf('relAppToITC');
    expect(validateRelationInput(type, { attributes: { costTotalAnnual: 'x', y: 1 } })).toMatchObject([
      { field: 'attributes.costTotalAnnual', code: 'wrong_type' },
      { field: 'attributes.y', code: 'unknown_attribute' },
    ]);
    expect(validateRelationInput(type, { description: 'x'.repeat(10_001) })).toMatchObject([
      { field: 'description', code: 'too_long' },
    ]);
    const before: StoredRelation = {
      id: 'r',
      type: type.key,
      source_id: 'a',
      target_id: 'b',
      attributes: { costTotalAnnual: 1 },
      description: 'x',
    };
    expect(withInput(before, {})).toEqual(before);
    const after = withInput(before, { attributes: null, description: '' }, ['costTotalAnnual']);
    expect(after).toEqual({ ...before, description: null });
    expect(diffRelation(before, after)).toEqual({ description: { old: 'x', new: null } });
    expect(diffRelation(before, null)).toEqual({
      description: { old: 'x', new: null },
      'attributes.costTotalAnnual': { old: 1, new: null },
    });
  });

  it('say which sides a cardinality limits', () => {
    expect(limitedSides(typeOf('relAppToITC'))).toEqual([]);
    expect(limitedSides(typeOf('relOrgToApp'))).toEqual(['target']);
    expect(limitedSides(typeOf('relPlatformToApp'))).toEqual(['target', 'source']);
  });
});

describe('the workingSet of relations', () => {
  const relation = (id: string, type: string, source_id: string, target_id: string): StoredRelation => ({
    id,
    type,
    source_id,
    target_id,
    attributes: {},
    description: null,
  });

  it('comes to one write for each relation, and to none for what was only passing', () => {
    const kept = relation('1', 'relAppToITC', 'a', 'b');
    const gone = relation('2', 'relAppToITC', 'a', 'c');
    const workingSet = createWorkingSet([kept, gone]);
    const made = relation('3', 'relAppToITC', 'a', 'd');
    const passing = relation('4', 'relAppToITC', 'a', 'e');
    workingSet.remove(gone);
    for (const one of [made, passing]) workingSet.put(one);
    workingSet.remove(passing);
    const changed = { ...kept, description: 'x' };
    workingSet.put(changed);
    expect(workingSet.find(kept)).toBe(changed);
    expect(workingSet.find(gone)).toBeUndefined();
    expect(workingSet.writes()).toEqual([
      { before: kept, after: changed },
      { before: gone, after: null },
      { before: null, after: made },
    ]);
  });

  it('never holds more than a cardinality allows, whatever is asked for', () => {
    const step = fc.record({
      type: fc.constantFrom('relOrgToApp', 'relPlatformToApp', 'relAppToITC'),
      source_id: fc.constantFrom('a', 'b', 'c'),
      target_id: fc.constantFrom('x', 'y', 'z'),
      remove: fc.boolean(),
    });
    forAll(100, [fc.array(step, { maxLength: 60 })], (steps) => {
      const workingSet = createWorkingSet([]);
      steps.forEach(({ remove, ...ends }, n) => {
        const there = workingSet.find(ends);
        if (there && remove) workingSet.remove(there);
        if (there || refusal(() => workingSet.requireCardinality(typeOf(ends.type), ends)).length > 0) return;
        workingSet.put(relation(String(n), ends.type, ends.source_id, ends.target_id));
      });
      const left = workingSet.writes().map((write) => write.after!);
      for (const [type, sides] of [
        ['relOrgToApp', ['target_id']],
        ['relPlatformToApp', ['source_id', 'target_id']],
      ] as const) {
        for (const side of sides) {
          const ids = left.filter((one) => one.type === type).map((one) => one[side]);
          expect(new Set(ids).size).toBe(ids.length);
        }
      }
    });
  });
});
