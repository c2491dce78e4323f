import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createPlace, freePort, processesIn } from '../support/processes.ts';
import { until } from '../support/until.ts';

const place = await createPlace();

afterAll(() => place.clear());

it('ends with npm, which passes SIGTERM on to its shell alone', async () => {
  const port = await freePort();
  const npm = spawn('npm', ['start'], {
    cwd: path.join(import.meta.dirname, '../..'),
    stdio: 'ignore',
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: place.dataDir,
      DATABASE_URL: undefined,
      REDIS_URL: undefined,
      DEMO: 'false',
      LOG_LEVEL: 'silent',
    },
  });
  const ended = once(npm, 'exit');
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${port}/api/health/ready`).catch(() => undefined))?.ok;
  await until('the service to be ready', isReady, 90_000);
  npm.kill('SIGTERM');
  await ended;
  await until('all processes to have ended', async () => processesIn(place.dataDir).length === 0, 20_000);
  expect(await isReady()).toBeUndefined();
}, 150_000);
