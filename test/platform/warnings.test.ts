import path from 'node:path';
import { startChild } from '../support/child.ts';

it('warnings of Node are lines of the log, and nothing else is printed', async () => {
  const { code, output } = await startChild(path.join(import.meta.dirname, 'fixtures/warn.ts')).ended();
  const [line, ...more] = output.trim().split('\n');
  expect(JSON.parse(line!)).toMatchObject({
    level: 40,
    process: 'test',
    msg: 'a warning of Node',
    warning: 'MaxListenersExceededWarning',
  });
  expect(more).toEqual([]);
  expect(code).toBe(0);
});
