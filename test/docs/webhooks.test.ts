import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { matchLists } from '../../integrations/analysis/matching/match.ts';
import type { MatchRecord } from '../../integrations/analysis/matching/matching.types.ts';
import { reasonsOf } from '../../integrations/analysis/matching/reasons.ts';
import { signBody } from '../../integrations/collaboration/webhooks/messages.ts';

it('shows receivers a check that takes what is signed here, and nothing else', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
  const code = /```js\n([\s\S]*?)```/.exec(page)![1]!;
  const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const now = 1_800_000_000;
  const header = signBody(['old secret', 'new secret'], '{"id":1}', now);
  for (const secret of ['old secret', 'new secret'])
    expect(isGenuine(secret, header, '{"id":1}', now)).toBe(true);
  expect(isGenuine('other', header, '{"id":1}', now)).toBe(false);
  expect(isGenuine('new secret', header, '{"id":2}', now)).toBe(false);
  expect(isGenuine('new secret', header, '{"id":1}', now + 301)).toBe(false);
  expect(isGenuine('new secret', 'nonsense', '{"id":1}', now)).toBe(false);
});

it('shows pairs with the reasons for them', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../../docs/matching.md'), 'utf8');
  const { left, right, fields } = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!);
  const { pairs, model } = matchLists(left, right, { fields });
  const recordOf = (id: string): MatchRecord =>
    [...left, ...right].find((record: MatchRecord) => record.id === id);
  const shown = pairs.flatMap((pair) => [
    `${pair.left} and ${pair.right}: ${pair.class}, ${pair.score.toFixed(3)}`,
    ...reasonsOf(pair, recordOf(pair.left), recordOf(pair.right), model).map((reason) => `  ${reason}`),
  ]);
  expect(/```text\n([\s\S]*?)\n?```/.exec(page)![1]).toBe(shown.join('\n'));
});
