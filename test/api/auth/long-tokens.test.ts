import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openApp } from '../../support/harness.ts';

const { t } = await openApp();

const ask = async (token: string) =>
  (await t.app.inject({ url: '/api/v1/cards', headers: { authorization: `Bearer ${token}` } })).statusCode;

/** Bytes of the heap that are in use. */
function heldBytes(): number {
  v8.setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

it('refuses texts over 4 KiB as tokens', async () => {
  const { token } = await t.as('viewer');
  expect(await ask(token)).toBe(200);
  expect(await ask(`${token}.${'x'.repeat(5_000)}`)).toBe(401);
  expect(await ask(`est_${'x'.repeat(5_000)}`)).toBe(401);
});

it('keeps nothing of tokens that are none', async () => {
  await ask('est_first');
  const before = heldBytes();
  for (let n = 0; n < 4_000; n += 1) {
    const status = await ask(`est_${n}${'x'.repeat(3_900)}`);
    if (status !== 401) expect(status).toBe(401);
  }
  expect(heldBytes() - before).toBeLessThan(6 * 1024 * 1024);
});
