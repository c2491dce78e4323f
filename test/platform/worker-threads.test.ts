import { boundedThreadPool, type SendToThread, threadPool } from '../../platform/worker-threads.ts';

type Question = { add: [number, number] } | { fail: string } | { end: true };

let ask: SendToThread<Question, { sum: number; thread: number }>;
beforeAll(() => {
  ask = threadPool({ module: new URL('./fixtures/adding.worker.ts', import.meta.url), size: 2, idleMs: 200 });
});
afterAll(async () => {
  // they end by themselves
  await new Promise((resolve) => setTimeout(resolve, 250));
});

it('answers every question, by as many threads as there may be', async () => {
  const sums = await Promise.all(Array.from({ length: 20 }, (_, n) => ask({ question: { add: [n, 1] } })));
  expect(sums.map(({ sum }) => sum)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  expect(new Set(sums.map(({ thread }) => thread)).size).toBe(2);
});

it('tells what a thread has met, and goes on with it', async () => {
  await expect(ask({ question: { fail: 'no such number' } })).rejects.toThrow('no such number');
  expect((await ask({ question: { add: [1, 2] } })).sum).toBe(3);
});

it('fails what a thread that ends was to answer, and starts another', async () => {
  const asked = [ask({ question: { end: true } }), ask({ question: { end: true } })];
  await Promise.all(asked.map((each) => expect(each).rejects.toThrow('a thread has ended')));
  expect((await ask({ question: { add: [2, 2] } })).sum).toBe(4);
});

it('ends a question that takes too long, and answers the others meanwhile and after it', async () => {
  const ask = boundedThreadPool<string, string>({
    module: new URL('./fixtures/hanging.worker.ts', import.meta.url),
    what: 'questions',
    limitMs: 3_000,
  });
  const order: string[] = [];
  const hung = ask('hang').catch((error) => {
    order.push('hang');
    return error;
  });
  await Promise.all(['a', 'b', 'c'].map(async (question) => order.push(await ask(question))));
  expect(order).toEqual(['a', 'b', 'c']);
  expect(await hung).toMatchObject({ code: 'query_too_heavy', status: 422 });
  const both = [ask('hang'), ask('hang')].map((each) =>
    expect(each).rejects.toMatchObject({ code: 'query_too_heavy' }),
  );
  expect(await ask('after')).toBe('after');
  await Promise.all(both);
});

it('ends a question that takes too much memory, and answers the next one', async () => {
  const ask = boundedThreadPool<string, string>({
    module: new URL('./fixtures/hanging.worker.ts', import.meta.url),
    what: 'questions',
  });
  await expect(ask('fill')).rejects.toMatchObject({
    code: 'query_too_heavy',
    message: expect.stringContaining('512 MB of memory'),
  });
  expect(await ask('after')).toBe('after');
});
