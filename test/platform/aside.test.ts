import { expect, it } from 'vitest';
import { aside } from '../../platform/aside.ts';

it('ends a question that takes too long, and answers the others meanwhile and after it', async () => {
  const ask = aside<string, string>({
    module: new URL('./fixtures/hanging.worker.ts', import.meta.url),
    what: 'questions',
    limitMs: 3_000,
  });
  const order: string[] = [];
  const hung = ask('hang').catch((error) => {
    order.push('hang');
    return error;
  });
  const others = ['a', 'b', 'c'].map(async (question) => order.push(await ask(question)));
  await Promise.all(others);
  expect(order).toEqual(['a', 'b', 'c']);
  expect(await hung).toMatchObject({ code: 'query_too_heavy', status: 422 });
  const both = [ask('hang'), ask('hang')].map((each) =>
    expect(each).rejects.toMatchObject({ code: 'query_too_heavy' }),
  );
  expect(await ask('after')).toBe('after');
  await Promise.all(both);
});

it('ends a question that takes too much memory, and answers the next one', async () => {
  const ask = aside<string, string>({
    module: new URL('./fixtures/hanging.worker.ts', import.meta.url),
    what: 'questions',
  });
  await expect(ask('fill')).rejects.toMatchObject({
    code: 'query_too_heavy',
    message: expect.stringContaining('512 MB of memory'),
  });
  expect(await ask('after')).toBe('after');
});
