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

test('the guide has a row for each way to fail, with the very advice that the failure gives', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
  expect(rows).toEqual(Object.entries(advice));
});

test('and one for each fault of a remote, with what runs fail with when it stays', () => {
  const rows = faultsInDocs(guide).map(({ called, codes }) => ({ called, codes }));
  expect(rows).toEqual(faults.map((fault) => ({ called: calledInDocs[fault], codes: failsWith[fault] })));
});

test('500 ordeals hold every fault alone and every two of them, several times', () => {
  const all = ordeals(randomInt(2 ** 31), 500, 25).map((ordeal) => nameOf(faultsOf(ordeal)));
  const counts = combinations.map((one) => all.filter((name) => name === one).length);
  expect(combinations).toHaveLength(15 + (15 * 14) / 2);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
});
