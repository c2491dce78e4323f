import type { PortfolioFacts } from '../../../../reports/analysis/portfolio-insights/insights.words.ts';
import { insightsOf } from '../../../../reports/analysis/portfolio-insights/insights.words.ts';

const nothing: PortfolioFacts = {
  total: 20,
  ended: 0,
  ending: 0,
  leavingCritical: 0,
  withoutLifecycle: 0,
  critical: 0,
  technicallyBad: 0,
  functionallyBad: 0,
  badCritical: 0,
  time: { tolerate: 0, invest: 0, migrate: 0, eliminate: 0 },
  leavingWithoutDate: 0,
  onEndedParts: 0,
  endedParts: 0,
  crowdedCapabilities: 0,
  mostCrowded: null,
  withoutCapability: 0,
  withoutStakeholder: 0,
  withoutSupplier: 0,
  quality: 80,
  costs: null,
  groups: null,
  colors: null,
};
const keys = (facts: Partial<PortfolioFacts>) => insightsOf({ ...nothing, ...facts }).map(({ key }) => key);

it('says nothing where there is nothing to say, and so of an empty portfolio', () => {
  expect(keys({})).toEqual([]);
  expect(keys({ total: 0 })).toEqual(['empty']);
  expect(keys({ withoutLifecycle: 1 })).toEqual([]);
});

it('puts the most severe first, with the figures that it names', () => {
  const found = insightsOf({
    ...nothing,
    ended: 1,
    ending: 2,
    leavingCritical: 1,
    leavingWithoutDate: 1,
    time: { tolerate: 4, invest: 10, migrate: 3, eliminate: 1 },
    badCritical: 1,
    critical: 5,
    costs: { total: 1_000, topTenth: 500, leaving: 100, priced: 18 },
  });
  expect(found.map(({ key, severity }) => [key, severity])).toEqual([
    ['ended', 'critical'],
    ['bad_and_critical', 'warning'],
    ['leaving_without_date', 'info'],
    ['costs', 'info'],
    ['time', 'info'],
  ]);
  expect(found[0]).toMatchObject({
    observation:
      '1 application (5 % of 20) is past the end of life, and 2 more will be within a year. Of those that end or are being phased out, 1 is critical to the business.',
    figures: { ended: 1, ending: 2, leaving_critical: 1 },
  });
  expect(found[3]!.observation).toContain('accounts for 50 % of annual costs of 1000. 10 % is spent on');
});

it('is critical only about applications that have ended', () => {
  const soon = { ...nothing, ending: 6, leavingCritical: 2, critical: 4 };
  expect(insightsOf(soon)[0]).toMatchObject({
    severity: 'warning',
    observation:
      '6 applications (30 % of 20) will be past the end of life within a year. Of those that end or are being phased out, 2 are critical to the business.',
  });
  expect(insightsOf({ ...soon, ended: 1 })[0]).toMatchObject({ key: 'ended', severity: 'critical' });
});

it('tells of groups, of which one stands out', () => {
  const [found] = insightsOf({
    ...nothing,
    groups: {
      label: 'Organization',
      without: 2,
      all: [
        { name: 'Sales', apps: 10, technicallyBad: 1, cost: null },
        { name: 'Claims', apps: 8, technicallyBad: 6, cost: null },
      ],
    },
  });
  expect(found).toMatchObject({ key: 'groups', severity: 'warning', recommendation: 'Start with “Claims”.' });
  expect(found!.observation).toContain(
    '2 groups; the largest is “Sales” with 10 (50 %); 2 of 20 are in none.',
  );
});
