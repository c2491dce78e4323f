import Type from 'typebox';
import { changeSetting } from '../../../../domain/app/settings/settings.change.ts';
import { askBySplitting, createRunModel } from '../../../../integrations/analysis/models/models.run.ts';
import { startModels } from '../../../emulators/openai.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const schema = Type.Object({ n: Type.Integer() }, { additionalProperties: false });
const hasty = { timeoutMs: 5_000, attempts: 1, pauseMs: 5, longestWaitMs: 5 };
const RUN = '00000000-0000-4000-8000-00000000000a';
const question = {
  purpose: 'count',
  prompt: { name: 'count', version: 2, system: 'Count.' },
  data: {},
  schema,
};

const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const world = closeAfterAll(await startModels());

beforeEach(async () => {
  await t.services.db('ai_usage').delete();
  world.fault = () => undefined;
  world.answer = () => ({ n: 7 });
  world.asked.length = 0;
  await set({
    enabled: true,
    provider_type: 'openai',
    provider_url: world.url,
    model: 'small',
    tokens_per_run: null,
  });
});

const set = async (input: Record<string, unknown>) =>
  await changeSetting(await t.ctx(), t.services.secrets, 'ai', input);
const runModel = (signal = new AbortController().signal) => createRunModel(t.services, RUN, signal, hasty);

it('adds up what the model had a hand in', async () => {
  const model = runModel();
  expect(await model.ask('counts', question)).toEqual({ n: 7 });
  expect(await model.ask('counts', question)).toEqual({ n: 7 });
  world.answer = () => ({ n: 'seven' });
  expect(await model.ask('words', question)).toBeUndefined();
  expect(model.stopped()).toBeNull();
  const made = { provider: 'openai', model: 'small', prompt: 'count@2' };
  expect(model.parts()).toMatchObject([
    { part: 'counts', ...made, calls: 2 },
    { part: 'words', ...made, calls: 2 },
  ]);
  const spent = model.parts().reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0);
  const row = await t.services.db('ai_usage').first();
  expect(row).toMatchObject({ run_id: RUN, calls: 4, tokens_reserved: 0 });
  expect(row.tokens_in + row.tokens_out).toBe(spent);
});

it('asks no more once the budget is spent, and says so', async () => {
  await set({ tokens_per_run: 10 });
  const model = runModel();
  expect(await model.ask('counts', question)).toBeUndefined();
  await set({ tokens_per_run: null });
  expect(await model.ask('counts', question)).toBeUndefined();
  expect(model.stopped()).toMatchObject({ reason: 'budget' });
  expect(model.parts()).toEqual([]);
  expect(world.asked).toEqual([]);
});

it('asks no more after three questions in a row without an answer', async () => {
  world.fault = () => 'filtered';
  const model = runModel();
  for (let n = 0; n < 5; n += 1) expect(await model.ask('counts', question)).toBeUndefined();
  expect(model.stopped()).toMatchObject({ reason: 'declined' });
  expect(world.asked).toHaveLength(3);
  expect(model.parts()).toMatchObject([{ part: 'counts', calls: 3 }]);
});

it('asks in halves where one thing of many has it fail, which costs the others nothing', async () => {
  const things = Array.from({ length: 20 }, (_, n) => n);
  const asked = async (fails: (n: number) => boolean) => {
    world.asked.length = 0;
    world.fault = () => undefined;
    world.answer = ({ data }) => (data.some(fails) ? 'I will not' : { n: 1 });
    const model = runModel();
    const said = await askBySplitting(model, things, async (some, isPart) =>
      (await model.ask('halves', { ...question, data: some }, isPart)) ? some : undefined,
    );
    return { said, stopped: model.stopped()?.reason };
  };
  expect(await asked((n) => n === 7)).toEqual({ said: things.filter((n) => n !== 7), stopped: undefined });
  expect((await asked((n) => n === 0 || n === 19)).said).toEqual(things.slice(1, 19));
  // a model that answers nothing is asked no more than a dozen questions about it
  expect((await asked(() => true)).said).toEqual([]);
  expect(world.asked).toHaveLength(24);
});

it('does without where no provider is set up, and ends with the run', async () => {
  await set({ enabled: false });
  const model = runModel();
  expect(await model.ask('counts', question)).toBeUndefined();
  expect([model.parts(), model.stopped()]).toEqual([[], null]);
  await expect(runModel(AbortSignal.abort(new Error('cancelled'))).ask('counts', question)).rejects.toThrow(
    'cancelled',
  );
});
