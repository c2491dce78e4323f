import fc from 'fast-check';
import { findDuplicates } from '../../../../integrations/analysis/matching/match.ts';
import type { MatchField, MatchRecord } from '../../../../integrations/analysis/matching/matching.types.ts';
import { forAll } from '../../../support/property.ts';

const fields: MatchField[] = [
  { name: 'name', kind: 'name', without: 'vendor' },
  { name: 'vendor', kind: 'name', weight: 0.5 },
  { name: 'aliases', kind: 'list' },
  { name: 'uses', kind: 'set' },
  { name: 'cost', kind: 'number', weight: 0.5 },
];
const words = [
  'Ledger',
  'Portal',
  'Claims',
  'Archive',
  'Freight',
  'Planner',
  'ERP',
  'Graz',
  'Linz',
  'Test',
  '2',
  'Leger',
];
const word = fc.constantFrom(...words);
const values = fc.record({
  name: fc.array(word, { minLength: 1, maxLength: 4 }).map((all) => all.join(' ')),
  vendor: fc.constantFrom('Aurum GmbH', 'Boreal', null),
  aliases: fc.oneof(fc.constant(null), fc.array(word, { maxLength: 2 })),
  uses: fc.array(fc.constantFrom('u1', 'u2', 'u3', 'u4', 'u5', 'u6'), { maxLength: 3 }),
  cost: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 9 })),
});
const list = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 60 }), values), { selector: ([id]) => id, maxLength: 40 })
  .map((all) => all.map(([id, said]): MatchRecord => ({ id: `r${id}`, values: said })));

/** So few that lists of neighbours are full, and one pushes another out. */
const neighbours = 2;

test('a run that builds on an earlier one finds exactly what a full one with the same model does', () => {
  forAll(150, [list, list, fc.array(fc.nat(39), { maxLength: 6 })], (before, others, places) => {
    const { model, snapshot } = findDuplicates(before, { fields, neighbours });
    // some records go, some change, some come
    const changes = new Map(others.slice(0, 8).map((record) => [record.id, record]));
    const gone = new Set(places.map((place) => before[place]?.id));
    const after = [...before.filter(({ id }) => !gone.has(id) && !changes.has(id)), ...changes.values()];
    const full = findDuplicates(after, { fields, neighbours, model });
    const next = findDuplicates(after, { fields, neighbours, model, previous: structuredClone(snapshot) });
    expect({ ...next, work: null }).toEqual({ ...full, work: null });
    expect(next.work.compared).toBeLessThanOrEqual(full.work.compared);
  });
});

/** A hundred systems, of which each second has a copy that is written a little otherwise. */
const systems = Array.from({ length: 100 }, (_, at): MatchRecord => {
  const name = `${words[at % 6]} ${words[(at + 3) % 6]} k${Math.floor(at / 2)}z q${(at >> 1) * 7}`;
  return {
    id: `s${1_000 + at}`,
    values: {
      name: at % 2 ? name.toUpperCase() : name,
      vendor: null,
      uses: [`u${at >> 1}`],
      cost: (at >> 1) + 1,
    },
  };
});

test('the same records need no work, and a changed one little', () => {
  const { model, snapshot } = findDuplicates(systems, { fields });
  const again = findDuplicates(systems.toReversed(), { fields, model, previous: snapshot });
  expect(again.work).toEqual({ changed: 0, searched: 0, compared: 0 });
  const changed = systems.with(10, {
    ...systems[10]!,
    values: { ...systems[10]!.values, name: 'Ledger Claims' },
  });
  const { work } = findDuplicates(changed, { fields, model, previous: snapshot });
  expect(work.changed).toBe(1);
  expect(work.compared).toBeLessThan(snapshot.candidates.left.length / 4);
});

test('what was found by another model is refused', () => {
  const { model, snapshot } = findDuplicates(systems, { fields });
  const other = { ...model, priorBits: model.priorBits + 1 };
  expect(() => findDuplicates(systems, { fields, model: other, previous: snapshot })).toThrow(
    'of another model',
  );
  expect(() => findDuplicates(systems, { fields: fields.slice(1), model })).toThrow('other fields');
});
