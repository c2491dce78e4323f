import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { advice } from '../../../integrations/itsm/remote.ts';
import { faults } from '../../emulators/servicenow/faults.ts';
import { combinations, nameOf, ordeals } from '../../soak/itsm/ordeals.ts';
import { faultsOf } from '../../soak/itsm/suffer.ts';
import { calledInDocs, failsWith, faultsInDocs } from '../../soak/itsm/told.ts';

const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/integrations/itsm.md'), 'utf8');

test('the guide has a row for each error code, with the advice of the error', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
  expect(rows).toEqual(Object.entries(advice));
});

test('the guide has a row for each fault of a remote, with the error of runs while it lasts', () => {
  const rows = faultsInDocs(guide).map(({ called, codes }) => ({ called, codes }));
  expect(rows).toEqual(faults.map((fault) => ({ called: calledInDocs[fault], codes: failsWith[fault] })));
});

test('500 generated scenarios contain every fault and every pair of faults several times', () => {
  const all = ordeals(randomInt(2 ** 31), 500, 25).map((ordeal) => nameOf(faultsOf(ordeal)));
  const counts = combinations.map((one) => all.filter((name) => name === one).length);
  expect(combinations).toHaveLength(15 + (15 * 14) / 2);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
});
