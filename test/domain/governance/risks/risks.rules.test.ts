import fc from 'fast-check';
import { seriesDay } from '../../../../domain/collaboration/todos/todos.rules.ts';
import {
  impacts,
  levels,
  probabilities,
  riskStatuses,
} from '../../../../domain/governance/risks/risks.model.ts';
import {
  defaultTaskLead,
  followedDecision,
  isSettled,
  levelOf,
  nextStatuses,
  overdueStatuses,
} from '../../../../domain/governance/risks/risks.rules.ts';
import { forAll } from '../../../support/property.ts';

describe('the level of a risk', () => {
  // impact: critical, high, medium, low
  const table = { very_high: 'C C H M', high: 'C H H M', medium: 'H H M L', low: 'M M L L' };

  it('is that of the matrix', () => {
    for (const probability of probabilities) {
      const row = impacts.map((impact) => levelOf(probability, impact)![0]!.toUpperCase()).join(' ');
      expect([probability, row]).toEqual([probability, table[probability]]);
    }
    expect(levelOf('high', null)).toBeNull();
    expect(levelOf(null, 'high')).toBeNull();
  });

  it('never falls when something is likelier or graver', () => {
    const place = fc.tuple(fc.nat(3), fc.nat(3));
    forAll(100, [place, place], ([p1, i1], [p2, i2]) => {
      fc.pre(p1 <= p2 && i1 <= i2);
      const rank = (p: number, i: number) => levels.indexOf(levelOf(probabilities[p]!, impacts[i]!)!);
      expect(rank(p1, i1)).toBeLessThanOrEqual(rank(p2, i2));
    });
  });
});

it('the way of a risk is that of the table', () => {
  //   identified analysed mitigation_planned in_progress mitigated monitoring accepted closed
  const table = [
    '- + - - - - + -', // identified
    '- - + - - - + -', // analysed
    '- - - + - - + -', // mitigation_planned
    '- - - - + - + -', // in_progress
    '- - - + - + - +', // mitigated
    '- - - + - - + +', // monitoring
    '- - - + - - - +', // accepted
    '- - - + - - - -', // closed
  ];
  const moves = riskStatuses.map((from) =>
    riskStatuses.map((to) => (nextStatuses(from).includes(to) ? '+' : '-')).join(' '),
  );
  expect(moves).toEqual(table);
});

it('what follows from a status', () => {
  expect(riskStatuses.map((status) => [status, followedDecision(status), isSettled(status)])).toEqual([
    ['identified', 'risk_tracked', false],
    ['analysed', 'risk_tracked', false],
    ['mitigation_planned', 'risk_tracked', false],
    ['in_progress', 'risk_tracked', false],
    ['mitigated', 'mitigated', true],
    ['monitoring', 'mitigated', true],
    ['accepted', 'accepted', true],
    ['closed', 'verified', true],
  ]);
  expect(overdueStatuses).toEqual([
    'identified',
    'analysed',
    'mitigation_planned',
    'in_progress',
    'monitoring',
  ]);
});

it('the lead time and the day of a series', () => {
  expect(
    (['none', 'days', 'weeks', 'months', 'years'] as const).map((unit) => defaultTaskLead(unit, 1)),
  ).toEqual([14, 0, 2, 7, 14]);
  expect(seriesDay('months', '2031-01-31')).toBe(31);
  expect(seriesDay('weeks', '2031-01-31')).toBeNull();
  expect(seriesDay('years', null)).toBeNull();
});
