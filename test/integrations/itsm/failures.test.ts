import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { advice } from '../../../integrations/itsm/remote.failures.ts';

test('the guide has a row for each way to fail, with the very advice that the failure gives', () => {
  const guide = readFileSync(path.resolve(import.meta.dirname, '../../../docs/integrations/itsm.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, code, text]) => [code, text]);
  expect(rows).toEqual(Object.entries(advice));
});
