import { expect, it } from 'vitest';
import { bundledFacts } from '../../../../domain/governance/eol/eol.facts.ts';
import { createMatcher } from '../../../../domain/governance/eol/eol.match.ts';
import { isDay } from '../../../../domain/kernel/dates.ts';

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

it.each([
  ['PostgreSQL', 'postgresql', null],
  ['PostgreSQL 15.4', 'postgresql', '15'],
  ['postgres 9.6 (billing)', 'postgresql', '9.6'],
  ['Postgre SQL 16', 'postgresql', '16'],
  ['Postgresqll', 'postgresql', null],
  ['Node.js 18.20', 'nodejs', '18'],
  ['NodeJS 20', 'nodejs', '20'],
  ['Python 3.9.18', 'python', '3.9'],
  ['Python 3', 'python', null],
  ['Oracle Database 19c', 'oracle-database', '19'],
  ['Microsoft SQL Server 2019', 'mssqlserver', '15.0'],
  ['Windows Server 2012 R2', 'windows-server', '2012-R2'],
  ['Windows Server 2022 Datacenter', 'windows-server', '2022'],
  ['Red Hat Enterprise Linux 8.6', 'rhel', '8'],
  ['Ubuntu Jammy Jellyfish', 'ubuntu', '22.04'],
  ['Ubuntu 20.04 LTS', 'ubuntu', '20.04'],
  ['k8s 1.30', 'kubernetes', '1.30'],
  ['Apache Tomcat 9.0.71', 'tomcat', '9.0'],
  ['Apache Kafka 3.7.1', 'apache-kafka', '3.7'],
  ['Kafka', 'apache-kafka', null],
  ['RabbitMQ 3.12', 'rabbitmq', '3.12'],
  ['Rabbit MQ', 'rabbitmq', null],
  ['Keycloak 24.0.5', 'keycloak', '24.0'],
  ['OpenShift Container Platform 4.14', 'red-hat-openshift', '4.14'],
  ['Spring Boot 2.7.18', 'spring-boot', '2.7'],
  ['.NET Framework 4.8', 'dotnetfx', '4.8'],
  ['Cassandra', 'apache-cassandra', null],
])('finds what %s means', (text, product, cycle) => {
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
])('proposes nothing likely for %s', (text) => {
  expect(matcher.find(text, 5, 0.5)).toEqual([]);
});

it('scores the very name 1, and less what is further away', () => {
  const score = (text: string) => matcher.find(text, 1, 0)[0]!.score;
  expect(score('MariaDB')).toBe(1);
  expect(score('mariadb 10.6')).toBe(1);
  expect(score('MariaDB for the shop')).toBeLessThan(1);
  expect(score('MariaDb cluster of the shop')).toBeGreaterThan(0.7);
  expect(score('Mariadbb')).toBeLessThan(0.9);
});
