import { relationTypeOf } from '../../../../domain/exchange/archimate/archimate.rows.ts';
import { seededMetamodel } from '../../inventory/cards/seeded-metamodel.ts';

const relationships = [
  'Access',
  'Aggregation',
  'Assignment',
  'Association',
  'Composition',
  'Flow',
  'Influence',
  'Realization',
  'Serving',
  'Specialization',
  'Triggering',
];
const metamodel = seededMetamodel();
const types = metamodel.visibleTypes;

it('join the card types in the direction that is given', () => {
  for (const relationship of relationships) {
    for (const source of types) {
      for (const target of types) {
        const found = relationTypeOf(metamodel, relationship, source, target);
        if (!found) continue;
        const { source_type_key, target_type_key } = metamodel.relationTypes.get(found.key)!;
        const ends = found.reversed ? [target_type_key, source_type_key] : [source_type_key, target_type_key];
        expect(ends, `${relationship} ${found.key}`).toEqual([source, target]);
      }
    }
  }
});

it('are never guessed', () => {
  for (const relationship of ['Flow', 'Influence', 'Specialization', 'Triggering']) {
    for (const source of types) {
      for (const target of types)
        expect(relationTypeOf(metamodel, relationship, source, target)).toBeUndefined();
    }
  }
  // ArchiMate has no relationship that says that one application replaces another
  for (const relationship of relationships)
    expect(relationTypeOf(metamodel, relationship, 'Application', 'Application')).toBeUndefined();
  // exactly one relation type joins the two card types
  expect(relationTypeOf(metamodel, 'Association', 'Interface', 'Application')?.key).toBe('relAppToInterface');
  expect(relationTypeOf(metamodel, 'Association', 'constructor', 'toString')).toBeUndefined();
  expect(relationTypeOf(metamodel, 'toString', 'Application', 'Interface')).toBeUndefined();
});
