import { changeSetting } from '../../../../domain/app/settings/settings.change.ts';
import { runRetryPolicy } from '../../../../integrations/analysis/models/models.types.ts';
import { type ModelEmulator, startModels } from '../../../emulators/openai.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';
import { askPairs, cards, failure, fits, hasty, type PairsRequest, prompt } from './pairs.ts';

const RUN = '00000000-0000-4000-8000-000000000001';

let world: ModelEmulator;

const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));

beforeEach(async () => {
  world = await startModels('the key');
  world.answer = () => fits;
  await t.services.db('ai_usage').delete();
  await set({
    enabled: true,
    provider_type: 'openai',
    provider_url: world.url,
    model: 'small',
    api_key: 'the key',
    tokens_per_run: null,
    tokens_per_day: null,
    calls_per_day: null,
  });
});
afterEach(() => world.close());

const set = async (input: Record<string, unknown>) =>
  await changeSetting(await t.ctx(), t.services.secrets, 'ai', input);
const ask = (more: PairsRequest = {}, retryPolicy = hasty) =>
  askPairs(t.services, { runId: RUN, ...more }, retryPolicy);
const usage = async () => await t.services.db('ai_usage').select();

it('asks with instructions and data apart, and counts what it takes', async () => {
  const { answer, usage: use, ...rest } = await ask();
  expect(answer).toEqual(fits);
  expect(rest).toEqual({ provider: 'openai', model: 'small', prompt: 'pairs@1' });
  const [{ system, data, turns, body }] = world.asked as [ModelEmulator['asked'][0]];
  expect(system).toContain(prompt.system);
  expect(system).not.toContain('Payroll');
  expect(turns).toHaveLength(1);
  expect(data).toEqual({ cards });
  expect(body.response_format.json_schema).toMatchObject({ name: 'pairs', strict: true });
  expect(use).toMatchObject({ calls: 1, tokensIn: expect.any(Number), tokensOut: expect.any(Number) });
  expect(await usage()).toEqual([
    {
      id: expect.any(String),
      day: new Date().toISOString().slice(0, 10),
      run_id: RUN,
      purpose: 'pairs',
      provider: 'openai',
      model: 'small',
      calls: 1,
      tokens_in: use.tokensIn,
      tokens_out: use.tokensOut,
      tokens_reserved: 0,
    },
  ]);
});

it('counts bytes where a provider reports no possible number of tokens', async () => {
  world.fault = () => 'negative_usage';
  const { usage: use } = await ask();
  expect(use.tokensIn).toBeGreaterThan(0);
  expect(use.tokensOut).toBeGreaterThan(0);
});

it.each([
  ['openai', '/v1', '/v1/chat/completions', {}],
  ['ollama', '', '/v1/chat/completions', {}],
  ['azure_openai', '', '/openai/deployments/small/chat/completions?api-version=2025-01-01', {}],
  ['azure_openai', '/openai/v1', '/openai/v1/chat/completions', {}],
  ['anthropic', '', '/v1/messages', { model: 'claude-sonnet-4-5' }],
  ['anthropic', '', '/v1/messages', { model: 'claude-3-haiku-20240307' }],
  ['gemini', '', '/v1beta/models/small:generateContent', {}],
] as const)('speaks to %s at %s as its documentation says', async (type, path, asked, more) => {
  await set({ provider_type: type, provider_url: `${world.url}${path}`, api_key: 'the key', ...more });
  const { answer, usage: use } = await ask();
  expect(answer).toEqual(fits);
  expect(world.asked.map((one) => one.path)).toEqual([asked]);
  expect(world.asked[0]).toMatchObject({ data: { cards }, system: expect.stringContaining(prompt.system) });
  expect(world.asked[0]!.schema.properties).toHaveProperty('verdict');
  expect(use.tokensIn).toBeGreaterThan(0);
});

it.each([
  [{ status: 429, retryAfter: 0 }, 'rate_limited'],
  [500, 'unavailable'],
  ['page', 'unavailable'],
  ['truncated', 'unavailable'],
  ['cut', 'unavailable'],
  ['empty', 'unavailable'],
] as const)('tries again after %j, and says so when it stays', async (fault, kind) => {
  world.fault = (count) => (count === 1 ? fault : undefined);
  const { answer, usage: use } = await ask();
  expect(answer).toEqual(fits);
  expect(use.calls).toBe(2);
  world.fault = () => fault;
  expect(await failure(ask())).toMatchObject({ kind, use: { calls: 2 } });
});

it.each([
  [401, 'unauthorised'],
  [404, 'rejected'],
  [{ status: 429, retryAfter: 60 }, 'rate_limited'],
] as const)('does not try again after %j', async (fault, kind) => {
  world.fault = () => fault;
  expect(await failure(ask())).toMatchObject({ kind, use: { calls: 1 } });
  expect(world.asked).toHaveLength(1);
});

it('waits as long as Retry-After asks', async () => {
  world.fault = (count) => (count === 1 ? { status: 503, retryAfter: 1 } : undefined);
  const began = performance.now();
  await ask();
  expect(performance.now() - began).toBeGreaterThanOrEqual(1_000);
});

it('gives up on a provider that does not answer, and on a wrong key', async () => {
  world.fault = () => 'hang';
  const fault = await failure(ask({}, { ...hasty, timeoutMs: 200 }));
  expect(fault).toMatchObject({ kind: 'timeout', use: { calls: 2 } });
  // nobody knows what the provider did with it
  expect((await usage())[0].tokens_reserved).toBeGreaterThan(0);
  await set({ api_key: 'another key' });
  expect(await failure(ask())).toMatchObject({ kind: 'unauthorised' });
});

it('waits no longer than the time for all requests together', async () => {
  world.fault = () => 'hang';
  const began = performance.now();
  const fault = await failure(ask({}, { ...hasty, totalMs: 300 }));
  expect(fault).toMatchObject({ kind: 'timeout', use: { calls: 1 } });
  expect(performance.now() - began).toBeLessThan(hasty.timeoutMs);
});

it('stops at once when it is cancelled', async () => {
  const stop = new AbortController();
  world.fault = () => {
    stop.abort(new Error('cancelled'));
    return 'hang';
  };
  await expect(ask({ signal: stop.signal }, runRetryPolicy)).rejects.toThrow('cancelled');
  // in the pause between two requests too
  const again = new AbortController();
  world.fault = () => {
    setImmediate(() => again.abort(new Error('cancelled too')));
    return { status: 503, retryAfter: 50 };
  };
  await expect(ask({ signal: again.signal }, runRetryPolicy)).rejects.toThrow('cancelled too');
  await expect(ask({ signal: again.signal })).rejects.toThrow('cancelled too');
});

it('takes JSON from a fence, and none of another shape', async () => {
  world.answer = () => `\`\`\`json\n${JSON.stringify(fits)}\n\`\`\``;
  expect((await ask()).answer).toEqual(fits);
  world.answer = () => ({ ...fits, ids: ['a', 'b', 'c', 'd'] });
  expect(await failure(ask())).toMatchObject({ kind: 'off_schema' });
});

it('spends no more than its budgets, however many ask', async () => {
  const one = await ask();
  const each = one.usage.tokensIn + one.usage.tokensOut;
  await set({ calls_per_day: 6 });
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => ask()));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  expect(await failure(ask())).toMatchObject({ kind: 'budget', budget: 'calls_per_day', use: { calls: 0 } });
  await set({ calls_per_day: 1_000, tokens_per_run: 7 * each });
  expect(await failure(ask())).toMatchObject({ kind: 'budget', budget: 'tokens_per_run' });
  await set({ tokens_per_run: null, tokens_per_day: 7 * each });
  expect(await failure(ask({ runId: null }))).toMatchObject({ kind: 'budget', budget: 'tokens_per_day' });
  expect((await usage()).map((row) => [row.calls, row.tokens_reserved])).toEqual([[6, 0]]);
});

it('answers the status of a refusal, and keeps the words of the provider without the key for the log', async () => {
  world.fault = () => ({ status: 400, says: `There is no model for the key ${'x'.repeat(265)} the key` });
  const failed = await failure(ask());
  expect(failed.message).toBe('The AI provider refuses the request with status 400.');
  expect(String(failed.cause)).toMatch(/^There is no model for … x+ …$/);
});

it('sends nothing where no provider is set up, where its address is not allowed, or far too much', async () => {
  await set({ provider_url: 'http://10.0.0.1:11434', api_key: 'the key' });
  expect(await failure(ask())).toMatchObject({ kind: 'address' });
  const texts = Array.from({ length: 200 }, () => 'x'.repeat(4_000));
  expect(await failure(ask({ data: texts }))).toMatchObject({ kind: 'too_long', use: { calls: 0 } });
  await set({ enabled: false, model: '' });
  expect(await failure(ask())).toMatchObject({ kind: 'not_configured', missing: ['enabled', 'model'] });
  expect(world.asked).toEqual([]);
});
