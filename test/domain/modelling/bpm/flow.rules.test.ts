import fc from 'fast-check';
import { expect, it } from 'vitest';
import { clamp } from '../../../../domain/modelling/bpm/assessments.ts';
import { flowStatuses, type ModelElement } from '../../../../domain/modelling/bpm/bpm.model.ts';
import { readModelText } from '../../../../domain/modelling/bpm/bpmn.read.ts';
import {
  type FlowAction,
  flowActions,
  nextStatus,
  requireStatus,
  selectApprovers,
} from '../../../../domain/modelling/bpm/flow.approvers.ts';
import { readTemplate, templates } from '../../../../domain/modelling/bpm/templates.ts';

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
      const allowed = `${status} ${action}` in moves;
      if (allowed) expect(() => requireStatus(action, status)).not.toThrow();
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
  fc.assert(
    fc.property(people, people, people, fc.constantFrom('s', null), (named, holders, asked, submitter) => {
      const known = { named, holders, asked, submitter };
      const wanted = selectApprovers(known);
      const able = new Set([...named, ...holders]);
      // somebody is asked wherever somebody may, each once, and nobody who may not
      expect(wanted.length > 0).toBe(able.size > 0);
      expect(new Set(wanted).size).toBe(wanted.length);
      expect(wanted.every((id) => able.has(id))).toBe(true);
      // what is in step stays
      expect(selectApprovers({ ...known, asked: wanted })).toEqual(wanted);
    }),
  );
});

it('scores stay within their scale', () => {
  expect([-7, 0, 1, 3, 5, 6, 1e6].map(clamp)).toEqual([1, 1, 1, 3, 5, 5, 5]);
});

it.each(templates.map(({ key }) => key))('the template %s is a drawn model without a error', async (key) => {
  const template = templates.find((known) => known.key === key)!;
  const model = await readModelText(readTemplate(key).bpmn_xml, 'bpmn_xml');
  expect(model.warnings).toEqual([]);
  const elements = model.elements.flatMap((part): ModelElement[] => JSON.parse(part));
  expect(elements).toHaveLength(template.steps.length);
  for (const { id, lane, next } of template.steps) {
    const element = elements.find(({ bpmn_element_id }) => bpmn_element_id === id)!;
    expect(element.next_element_ids.toSorted()).toEqual(Object.keys(next).sort());
    expect(element.lane_name).toBe(template.lanes[lane] ?? null);
  }
  expect(model.picture).toContain('<svg');
});
