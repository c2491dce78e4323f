import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { signBody } from '../../integrations/collaboration/webhooks/sign.ts';

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
