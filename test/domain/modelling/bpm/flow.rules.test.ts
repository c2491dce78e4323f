import fc from 'fast-check';
import { clamp } from '../../../../domain/modelling/bpm/assessments.ts';
import {
  flowStatuses,
  type LinkTargets,
  type ModelElement,
} from '../../../../domain/modelling/bpm/bpm.model.ts';
import { readModelText } from '../../../../domain/modelling/bpm/bpmn.read.ts';
import {
  type FlowAction,
  flowActions,
  nextStatus,
  requireStatus,
  selectApprovers,
} from '../../../../domain/modelling/bpm/flow.approvers.ts';
import {
  type LinkRelation,
  linkedCards,
  pairKey,
  planRelations,
} from '../../../../domain/modelling/bpm/links.save.ts';
import { readTemplate, templateKeys } from '../../../../domain/modelling/bpm/templates.ts';
import { forAll } from '../../../support/property.ts';

it('a flow version moves as the table says, and in no other way', () => {
  const moves: Record<string, string | null> = {
    'draft edit': 'draft',
    'draft delete': null,
    'draft submit': 'pending',
    'pending approve': 'published',
    'pending reject': 'draft',
  };
  for (const status of flowStatuses) {
    for (const action of flowActions as readonly FlowAction[]) {
      expect(nextStatus(action, status), `${status} ${action}`).toBe(moves[`${status} ${action}`]);
      if (`${status} ${action}` in moves) expect(() => requireStatus(action, status)).not.toThrow();
      else expect(() => requireStatus(action, status)).toThrow(status);
    }
  }
});

it('those are asked to approve who may, first of all the owners, and nobody for himself where there are others', () => {
  const of = (named: string, holders: string, asked: string, submitter: string | null = 's') =>
    selectApprovers({ named: [...named], holders: [...holders], asked: [...asked], submitter }).join('');
  expect(of('ab', 'xy', '')).toBe('ab');
  expect(of('as', 'xy', 'xy')).toBe('a');
  expect(of('s', 'xy', '')).toBe('xy');
  expect(of('', 'xyz', 'xq')).toBe('x');
  expect(of('', 'xy', 'q')).toBe('xy');
  expect(of('', 's', '')).toBe('s');
  expect(of('', 'sx', 's')).toBe('s');
  const people = fc.uniqueArray(fc.constantFrom(...'abcds'));
  forAll(100, [people, people, people, fc.constantFrom('s', null)], (named, holders, asked, submitter) => {
    const known = { named, holders, asked, submitter };
    const wanted = selectApprovers(known);
    const able = new Set([...named, ...holders]);
    // somebody is asked wherever somebody may, each once, and nobody who may not
    expect(wanted.length > 0).toBe(able.size > 0);
    expect(new Set(wanted).size).toBe(wanted.length);
    expect(wanted.every((id) => able.has(id))).toBe(true);
    // what is in step stays
    expect(selectApprovers({ ...known, asked: wanted })).toEqual(wanted);
  });
});

it('scores stay within their scale', () =>
  expect([-7, 0, 1, 3, 5, 6, 1e6].map(clamp)).toEqual([1, 1, 1, 3, 5, 5, 5]));

it.each(templateKeys)('the template %s is a drawn model without an error', async (key) => {
  const model = await readModelText(readTemplate(key).bpmn_xml, 'bpmn_xml');
  expect(model.warnings).toEqual([]);
  const elements = model.elements.flatMap((part): ModelElement[] => JSON.parse(part));
  // every step is in a lane and leads on, except for the ends and the blank template
  for (const { element_type, lane_name, next_element_ids } of key === 'blank' ? [] : elements) {
    expect(lane_name).toBeTruthy();
    expect(next_element_ids.length > 0).toBe(element_type !== 'endEvent');
  }
  expect(model.picture).toContain('<svg');
});

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

it('come with the first link to a card, and go with the last', () => {
  const one = links({ a: to('crm') });
  const two = links({ a: to('crm'), b: to('crm') });
  expect(planRelations(links({}), one, []).wanted).toMatchObject([
    { column: 'application_id', card_id: 'crm' },
  ]);
  expect(planRelations(one, two, [made('r', 'crm')])).toMatchObject({ wanted: [], removed: [] });
  const plan = planRelations(two, links({ b: to('crm') }), [made('r', 'crm')]);
  expect(plan).toEqual({ wanted: [], removed: [], retained: new Map([['b', ['r']]]) });
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
  forAll(200, [all, all, relations], (before, after, some) => {
    const there = some.map(([id, untouched], n) => made(`${n}`, id, untouched));
    const plan = planRelations(before, after, there);
    const has = linkedCards(after);
    for (const { id, is_untouched, ...pair } of there) {
      const needed = has.has(pairKey(pair));
      expect([...plan.retained.values()].flat().filter((known) => known === id)).toHaveLength(needed ? 1 : 0);
      expect(plan.removed.some((gone) => gone.id === id)).toBe(!needed && is_untouched);
    }
    for (const wanted of plan.wanted) expect(linkedCards(before).has(pairKey(wanted))).toBe(false);
    expect(planRelations(after, after, there).wanted).toEqual([]);
  });
});
