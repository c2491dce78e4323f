import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { advice } from '../../../../integrations/exchange/itsm/remote.ts';
import { faults } from '../../../emulators/servicenow/faults.ts';
import { documentedFaults, failsWith, nameInDocs } from '../../../soak/itsm/failures.ts';
import { faultsOf } from '../../../soak/itsm/scenario.ts';
import { combinations, nameOf, scenarios } from '../../../soak/itsm/scenarios.ts';

const guide = readFileSync(
  path.resolve(import.meta.dirname, '../../../../docs/integrations/itsm.md'),
  'utf8',
);

test('the guide has a row for each error code, with the advice of the error', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
  expect(rows).toEqual(Object.entries(advice));
});

test('the guide has a row for each fault of a remote, with the error of runs while it lasts', () => {
  const rows = documentedFaults(guide).map(({ name, codes }) => ({ name, codes }));
  expect(rows).toEqual(faults.map((fault) => ({ name: nameInDocs[fault], codes: failsWith[fault] })));
});

test('500 generated scenarios contain every fault and every pair of faults several times', () => {
  const all = scenarios(randomInt(2 ** 31), 500, 25).map((scenario) => nameOf(faultsOf(scenario)));
  const counts = combinations.map((one) => all.filter((name) => name === one).length);
  expect(combinations).toHaveLength(15 + (15 * 14) / 2);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
});
