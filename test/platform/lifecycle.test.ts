import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { startChild } from '../support/child.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/live.ts');
const live = (scenario: string, ...args: string[]) => startChild(fixture, [scenario, ...args]);
/** What the process said of its end, without the log. */
const said = (output: string) => output.split('\n').filter((line) => line && !line.startsWith('{'));

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('in order at %s', async (signal) => {
  const child = live('plain');
  await child.until(/up/);
  child.kill(signal);
  const { code, output } = await child.ended();
  // last opened, first closed; nearly all of the time is the first one's
  expect(said(output)).toEqual(['up', 'api 9', 'queue', 'database true', 'exit 0']);
  expect(output).toContain(`"reason":"${signal}"`);
  expect(code).toBe(0);
});

it('in order when the terminal and npm both pass the signal on', async () => {
  const child = live('plain');
  await child.until(/up/);
  child.kill('SIGINT');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  const { code, output } = await child.ended();
  expect(said(output).slice(-3)).toEqual(['queue', 'database true', 'exit 0']);
  expect(code).toBe(0);
});

it('at once at a second signal', async () => {
  const child = live('slow');
  await child.until(/up/);
  child.kill('SIGTERM');
  await child.until(/api/);
  let ended = false;
  const end = child.ended().finally(() => {
    ended = true;
  });
  while (!ended) {
    child.kill('SIGTERM');
    await pause(50);
  }
  const { code, output } = await end;
  expect(said(output)).toEqual(['up', 'api 9', 'exit 1']);
  expect(code).toBe(1);
});

it('within its time, and leaves some to the others, when one is stuck', async () => {
  const child = live('stuck', '1500');
  await child.until(/up/);
  child.kill('SIGTERM');
  const { code, output } = await child.ended();
  expect(said(output)).toEqual(['up', 'api 1', 'database true', 'exit 0']);
  expect(output).toMatch(/"name":"queue","msg":"did not close in time"/);
  expect(code).toBe(0);
});

it('though one of its parts fails to close', async () => {
  const child = live('broken');
  await child.until(/up/);
  child.kill('SIGTERM');
  const { code, output } = await child.ended();
  expect(said(output)).toEqual(['up', 'api 9', 'database true', 'exit 0']);
  expect(output).toContain('the queue is broken');
  expect(code).toBe(0);
});

it.each([
  ['throws', 'SyntaxError'],
  ['rejects', 'nobody waits for this'],
])('in order with code 1 when something %s that nobody catches', async (scenario, message) => {
  const { code, output } = await live(scenario).ended();
  expect(said(output).slice(-4)).toEqual(['api 9', 'queue', 'database true', 'exit 1']);
  expect(output).toContain(message);
  expect(code).toBe(1);
});

it('once, however many ask for it', async () => {
  const { code, output } = await live('twice').ended();
  expect(said(output)).toEqual(['api 9', 'queue', 'database true', 'exit 0']);
  expect(output).toContain('"reason":"one"');
  expect(output).not.toContain('"reason":"two"');
  expect(code).toBe(0);
});

it('not with its terminal when it is to survive it', async () => {
  const shell = `trap '' HUP; exec '${process.execPath}' '${fixture}' plain 2>/dev/null`;
  const child = spawn('sh', ['-c', shell], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line === 'up') {
      child.kill('SIGHUP');
      child.kill('SIGTERM');
    }
  }
  expect(lines).toEqual(['up', 'api 9', 'queue', 'database true', 'exit 0']);
  expect(await ended).toEqual([0, null]);
});
