import {
  candidateOf,
  costRank,
  weights,
} from '../../../../domain/analysis/modernizations/modernizations.rules.ts';
import type { CardFacts } from '../../../../domain/analysis/modernizations/modernizations.types.ts';

const today = '2026-03-01';
const ranks = Array.from({ length: 101 }, (_, at) => at * 10);
const facts = (more: Partial<CardFacts> = {}): CardFacts => ({
  id: 'a',
  name: 'Claims Desk',
  subtype: null,
  version: null,
  product: null,
  hosting: null,
  technical: null,
  functional: null,
  time: null,
  classification: null,
  criticality: null,
  phaseOut: null,
  endOfLife: null,
  cycle: null,
  cost: 0,
  dependants: 0,
  endedParts: 0,
  endedPartNames: [],
  ...more,
});
const judged = (more: Partial<CardFacts>) => candidateOf(facts(more), today, ranks);
const postgres = (endsOn: string | null, isOver: boolean) => ({
  label: 'PostgreSQL',
  cycle: '12',
  endsOn,
  isOver,
  newest: '18',
});

it('has weights that come to a hundred', () =>
  expect(Object.values(weights).reduce((sum, weight) => sum + weight, 0)).toBe(100));

it('takes what is only dear, critical or relied on for no candidate', () => {
  expect(judged({ cost: 1_000, dependants: 50, criticality: 'missionCritical' })).toBeNull();
  expect(judged({ technical: 'adequate', functional: 'appropriate', time: 'tolerate' })).toBeNull();
  expect(judged({ endOfLife: '2030-01-01', phaseOut: '2029-01-01' })).toBeNull();
  expect(judged({ technical: 'somethingElse', time: 'constructor' })).toBeNull();
});

it.each([
  ['2026-03-01', 30],
  ['2026-09-01', 24],
  ['2027-09-01', 15],
])('counts a life that ends on %s with %d points', (endOfLife, points) => {
  expect(judged({ endOfLife })).toMatchObject({ score: points, modernization_type: 'replace' });
});

it('adds up all factors, with and without costs', () => {
  const found = judged({
    endOfLife: '2026-01-01',
    technical: 'inappropriate',
    functional: 'unreasonable',
    time: 'migrate',
    criticality: 'missionCritical',
    cost: 1_000,
    dependants: 31,
  })!;
  expect(found).toMatchObject({
    score: 100,
    score_without_costs: 100,
    modernization_type: 'migrate',
    effort: 'high',
  });
  expect(found.reasons.map(({ factor }) => factor)).toEqual([
    'lifecycle',
    'technical_suitability',
    'functional_suitability',
    'plans',
    'cost',
    'dependants',
    'criticality',
  ]);
  const plain = judged({ technical: 'inappropriate', cost: 1_000 })!;
  expect([plain.score, plain.score_without_costs]).toEqual([30, 22.2]);
  expect(judged({ technical: 'inappropriate' })!.score_without_costs).toBe(plain.score_without_costs);
});

it('says what to do, and why', () => {
  expect(judged({ cycle: postgres('2024-11-21', true), technical: 'adequate' })!).toMatchObject({
    modernization_type: 'upgrade',
    current_tech: 'PostgreSQL 12',
    recommendation: 'Upgrade Claims Desk to PostgreSQL 18: support of PostgreSQL 12 ended on 2024-11-21.',
  });
  expect(judged({ cycle: postgres(null, true) })!.recommendation).toContain('has ended');
  expect(judged({ time: 'eliminate', dependants: 3 })!.recommendation).toBe(
    'Retire Claims Desk after moving 3 cards off it: TIME model eliminate.',
  );
  expect(judged({ endedParts: 4, endedPartNames: ['Tomcat 7', 'Java 6', 'AIX 5'] })).toMatchObject({
    modernization_type: 'upgrade',
    score: 21,
    reasons: [{ reason: 'it uses what is past its end: Tomcat 7, Java 6, AIX 5 and 1 more' }],
  });
  expect(judged({ technical: 'unreasonable', hosting: 'onPremise' })!.modernization_type).toBe('replatform');
  expect(judged({ technical: 'unreasonable', hosting: 'cloudSaaS' })!.modernization_type).toBe('refactor');
  expect(judged({ functional: 'insufficient' })!.modernization_type).toBe('replace');
  expect(judged({ classification: 'phaseOut' })!.modernization_type).toBe('replace');
});

it('ranks costs among those of others', () => {
  expect([costRank(0, ranks), costRank(1_000, ranks), costRank(500, ranks), costRank(5, [])]).toEqual([
    0, 1, 0.5, 0,
  ]);
  expect(costRank(5_000, ranks)).toBe(1);
});

it('shows hostile names as text', () => {
  const { recommendation } = judged({ time: 'eliminate', name: `a\u202e\u0000b ${'x'.repeat(5_000)}` })!;
  expect(recommendation).toMatch(/^Retire a b x+$/);
  expect(recommendation.length).toBeLessThanOrEqual(500);
});
