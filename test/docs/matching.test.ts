import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { matchLists } from '../../integrations/analysis/matching/match.ts';
import { explain } from '../../integrations/analysis/matching/reasons.ts';

it('shows pairs as they are explained', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/matching.md'), 'utf8');
  const { left, right, fields } = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!);
  const { pairs, model } = matchLists(left, right, { fields });
  const shown = pairs.map((pair) => explain(pair, model)).join('\n');
  expect(/```text\n([\s\S]*?)\n?```/.exec(page)![1]).toBe(shown);
});
