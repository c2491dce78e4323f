import {
  concentrationFigures,
  concentrationOf,
  type GroupFigures,
  herfindahl,
} from '../../../../domain/analysis/suppliers/concentration.rules.ts';

const group = (name: string, more: Partial<GroupFigures> = {}): GroupFigures => ({
  group: name,
  category: 'Security',
  apps: 1,
  components: 0,
  criticalApps: 0,
  soleCriticalApps: 0,
  cost: 100,
  ...more,
});

it('computes the index as it is defined', () => {
  expect(herfindahl([])).toBe(0);
  expect(herfindahl([0, 0])).toBe(0);
  expect(herfindahl([5])).toBe(10_000);
  expect(herfindahl([1, 1, 1, 1])).toBe(2_500);
  // 30, 30, 20, 20: the example of the guidelines
  expect(herfindahl([30, 30, 20, 20])).toBe(2_600);
  expect([999, 1_000, 1_800, 1_801].map(concentrationOf)).toEqual(['low', 'moderate', 'moderate', 'high']);
});

it('tells shares, risks and categories', () => {
  const figures = [
    group('A', { cost: 300, criticalApps: 3, soleCriticalApps: 3, apps: 3 }),
    group('A', { cost: 100, category: 'Workplace' }),
    group('B', { cost: 400, apps: 6, category: 'Workplace' }),
    group('C', { cost: 200 }),
  ];
  const found = concentrationFigures(figures, 10);
  expect(found).toMatchObject({
    groups: 3,
    total_cost: 1_000,
    hhi_spend: 3_600,
    hhi_applications: herfindahl([4, 6, 1]),
    concentration: 'high',
    spend_share_top: { top_1: 0.4, top_3: 1, top_5: 1 },
    critical_app_count: 10,
  });
  expect(found.top.map(({ group_name, spend_share, risk }) => [group_name, spend_share, risk])).toEqual([
    ['A', 0.4, 'high'],
    ['B', 0.4, 'high'],
    ['C', 0.2, 'moderate'],
  ]);
  expect(found.top[0]!.reasons).toEqual([
    '40 % of all spend goes to it',
    '3 of 10 applications critical to the business have no other supplier',
  ]);
  expect(found.by_category.map(({ category, hhi_spend }) => [category, hhi_spend])).toEqual([
    ['Security', herfindahl([300, 200])],
    ['Workplace', herfindahl([100, 400])],
  ]);
});

it('tells nothing of costs that are not seen', () => {
  const found = concentrationFigures([group('A', { cost: null, apps: 3 }), group('B', { cost: null })], 0);
  expect(found).toMatchObject({
    total_cost: null,
    hhi_spend: null,
    spend_share_top: null,
    concentration: 'high',
  });
  expect(found.top.every(({ total_cost, spend_share }) => total_cost === null && spend_share === null)).toBe(
    true,
  );
  expect(concentrationFigures([], 0)).toMatchObject({ groups: 0, total_cost: 0, hhi_spend: 0, top: [] });
});
