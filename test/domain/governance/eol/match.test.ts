import { bundledFacts } from '../../../../domain/governance/eol/eol.facts.ts';
import { createMatcher } from '../../../../domain/governance/eol/eol.match.ts';
import { isDay } from '../../../../domain/kernel/dates.ts';
import versions from './match.versions.json' with { type: 'json' };

const facts = bundledFacts();
const matcher = createMatcher(facts);

it('has bundled facts of well-known products whose dates are in order', () => {
  expect(facts.length).toBeGreaterThan(40);
  expect(new Set(facts.map(({ name }) => name)).size).toBe(facts.length);
  for (const { name, cycles } of facts) {
    expect(new Set(cycles.map(({ cycle }) => cycle)).size, name).toBe(cycles.length);
    for (const { cycle, release_date, support_until, eol_from } of cycles) {
      const days = [release_date, support_until, eol_from].filter((date) => date !== null);
      expect(days.every(isDay), `${name} ${cycle}`).toBe(true);
      expect(days, `${name} ${cycle}`).toEqual(days.toSorted());
    }
  }
});

it.each(versions as [string, string, string | null][])('finds what %s means', (text, product, cycle) => {
  const [best] = matcher.find(text, 5, 0.3);
  expect(best?.name).toBe(product);
  expect(best!.score).toBeGreaterThan(0.5);
  expect(matcher.cycleIn(text, product)).toBe(cycle);
});

it.each([
  'Claims Handling',
  'Payroll',
  'Oracle',
  'Server',
  'Linux',
  'Customer Portal',
  'Apache Camel',
  '',
  '  ',
  '2022',
])('proposes nothing likely for %s', (text) => expect(matcher.find(text, 5, 0.5)).toEqual([]));

it('scores the very name 1, and less what is further away', () => {
  const score = (text: string) => matcher.find(text, 1, 0)[0]!.score;
  expect(score('MariaDB')).toBe(1);
  expect(score('mariadb 10.6')).toBe(1);
  expect(score('MariaDB for the shop')).toBeLessThan(1);
  expect(score('MariaDb cluster of the shop')).toBeGreaterThan(0.7);
  expect(score('Mariadbb')).toBeLessThan(0.9);
});
