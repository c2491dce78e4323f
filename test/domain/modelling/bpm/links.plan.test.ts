import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LinkTargets } from '../../../../domain/modelling/bpm/bpm.model.ts';
import {
  type LinkRelation,
  linkedCards,
  pairKey,
  planRelations,
} from '../../../../domain/modelling/bpm/links.save.ts';

const to = (application_id: string | null, data_object_id: string | null = null): LinkTargets => ({
  application_id,
  data_object_id,
  it_component_id: null,
  custom_fields: null,
});
const links = (of: Record<string, LinkTargets>) => new Map(Object.entries(of));
const made = (id: string, card_id: string, is_untouched = true): LinkRelation => ({
  id,
  column: 'application_id',
  card_id,
  is_untouched,
});

describe('relations that follow from links', () => {
  it('come with the first link to a card, and go with the last', () => {
    const one = links({ a: to('crm') });
    const two = links({ a: to('crm'), b: to('crm') });
    expect(planRelations(links({}), one, []).wanted).toMatchObject([
      { column: 'application_id', card_id: 'crm' },
    ]);
    expect(planRelations(one, two, [made('r', 'crm')])).toMatchObject({ wanted: [], removed: [] });
    expect(planRelations(two, links({ b: to('crm') }), [made('r', 'crm')])).toEqual({
      wanted: [],
      removed: [],
      retained: new Map([['b', ['r']]]),
    });
    expect(planRelations(one, links({}), [made('r', 'crm')]).removed).toHaveLength(1);
  });

  it('stay where somebody has made them or written on them', () => {
    expect(planRelations(links({ a: to('crm') }), links({}), []).removed).toEqual([]);
    expect(planRelations(links({ a: to('crm') }), links({}), [made('r', 'crm', false)]).removed).toEqual([]);
  });

  it('are each retained, removed or let go, whatever changes', () => {
    const card = fc.constantFrom(null, 'x', 'y', 'z');
    const all = fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), fc.tuple(card, card))
      .map((of) =>
        links(Object.fromEntries(Object.entries(of).map(([key, [app, data]]) => [key, to(app, data)]))),
      );
    const relations = fc.array(fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.boolean()), { maxLength: 3 });
    fc.assert(
      fc.property(all, all, relations, (before, after, some) => {
        const there = some.map(([id, untouched], n) => made(`${n}`, id, untouched));
        const plan = planRelations(before, after, there);
        const has = linkedCards(after);
        for (const { id, is_untouched, ...pair } of there) {
          const needed = has.has(pairKey(pair));
          expect([...plan.retained.values()].flat().filter((known) => known === id)).toHaveLength(
            needed ? 1 : 0,
          );
          expect(plan.removed.some((gone) => gone.id === id)).toBe(!needed && is_untouched);
        }
        for (const wanted of plan.wanted) expect(linkedCards(before).has(pairKey(wanted))).toBe(false);
        expect(planRelations(after, after, there).wanted).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
