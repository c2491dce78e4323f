import { readdirSync, statSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { Child } from '../support/child.ts';
import { createPlace, freePort, logIn, processesIn, untilReady } from '../support/processes.ts';
import { until } from '../support/until.ts';

const place = await createPlace();

afterAll(() => place.clear());

type Service = { child: Child; url: string };

const start = async (): Promise<Service> => {
  const port = await freePort();
  return { child: place.start('all', { PORT: String(port) }), url: `http://127.0.0.1:${port}` };
};

let service: Service | undefined;
/** The service that one test leaves to the next: what they look at begins when it is ready. */
async function theService(): Promise<Service> {
  service ??= await start();
  await untilReady(service.child, service.url);
  return service;
}

const nothingRuns = () =>
  until('all processes to have ended', async () => processesIn(place.dataDir).length === 0, 15_000);

/** An event stream that stays open; tells how it ended. */
function openStream(url: string, headers: Record<string, string>): Promise<{ ended: Promise<string> }> {
  return new Promise((resolve, reject) => {
    const request = http.get(`${url}/api/v1/events/stream`, { headers, agent: false }, (answer) => {
      const ended = new Promise<string>((tell) => {
        answer.once('end', () => tell('ended'));
        answer.once('error', () => tell('broken'));
      });
      answer.once('data', () => resolve({ ended }));
      answer.resume();
    });
    request.once('error', reject);
  });
}

/** A request whose head the service has taken and whose body is still to come. */
function beginCard(
  url: string,
  headers: Record<string, string>,
): Promise<{ finish(card: object): Promise<number> }> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/api/v1/cards`, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-type': 'application/json', expect: '100-continue' },
    });
    request.once('error', reject);
    request.once('continue', () =>
      resolve({
        finish: (card) =>
          new Promise((tell, fail) => {
            request.once('error', fail);
            request.once('response', (answer) => {
              answer.resume();
              tell(answer.statusCode!);
            });
            request.end(JSON.stringify(card));
          }),
      }),
    );
    request.flushHeaders();
  });
}

it('is ready again after it was killed at any moment, with everything that it had accepted', async () => {
  const accepted: string[] = [];
  // within the making of the cluster, the migrations, the start of the API, and while cards are written
  for (const moment of [400, 1_500, 3_000]) {
    const { child } = await start();
    await new Promise((resolve) => setTimeout(resolve, moment));
    child.kill('SIGKILL');
    await child.ended();
  }
  for (let round = 1; round <= 2; round += 1) {
    const { child, url } = await start();
    await untilReady(child, url);
    const remote = await logIn(url, place.admin);
    const write = async () => {
      for (let n = 0; ; n += 1) {
        const answer = await remote
          .send('POST', '/cards', { type: 'Application', name: `Round ${round}, card ${n}` })
          .catch(() => undefined);
        if (answer?.status !== 201) return;
        accepted.push(answer.body.id);
      }
    };
    const writers = [write(), write(), write()];
    await until('cards to be written', async () => accepted.length > round * 60);
    child.kill('SIGKILL');
    await Promise.all(writers);
  }
  const remote = await logIn((await theService()).url, place.admin);
  const stored = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await remote.send('GET', `/cards?page_size=200&fields=id&cursor=${cursor}`);
    for (const { id } of body.items) stored.add(id);
    cursor = body.next_cursor;
  }
  expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
}, 240_000);

it('refuses a second start on its folder in one sentence, and goes on', async () => {
  const { url } = await theService();
  expect(await place.start('all', { PORT: String(await freePort()) }).ended()).toEqual({
    code: 1,
    output: expect.stringMatching(/^\S+ is in use by another "npm start": [^\n]*DATA_DIR\.\n$/),
  });
  expect((await fetch(`${url}/api/health/ready`)).status).toBe(200);
}, 180_000);

it('keeps everything in its data folder from other users of the machine', async () => {
  const remote = await logIn((await theService()).url, place.admin);
  const { body } = await remote.send('POST', '/exports', { format: 'csv', kind: 'cards' });
  await until('the export to end', async () => {
    return (await remote.send('GET', `/jobs/${body.job_id}`)).body.status === 'succeeded';
  });
  const open: string[] = [];
  const names: string[] = [];
  const walk = (folder: string) => {
    // PostgreSQL's files come and go
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      const mode = (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077;
      names.push(path.relative(place.dataDir, file));
      if (mode !== 0) open.push(`${file} ${mode.toString(8)}`);
      if (entry.isDirectory()) walk(file);
    }
  };
  walk(place.dataDir);
  expect(open).toEqual([]);
  // as root, PostgreSQL runs as a user of its own, who may have to pass through
  const passing = process.getuid?.() === 0 ? 0o711 : 0o700;
  expect(statSync(place.dataDir).mode & 0o777 & ~passing).toBe(0);
  for (const part of [/^secret\.key$/, /^files\/../, /^postgres\/PG_VERSION$/])
    expect(
      names.some((name) => part.test(name)),
      String(part),
    ).toBe(true);
}, 120_000);

it('ends in order: running requests are answered, streams closed, and no process is left', async () => {
  const { child, url } = await theService();
  const remote = await logIn(url, place.admin);
  const stream = await openStream(url, remote.headers);
  const running = await beginCard(url, remote.headers);
  child.kill('SIGTERM');
  expect(await stream.ended).toBe('ended');
  await until('no new connection to be taken', async () => {
    return (await fetch(`${url}/api/health/live`).catch(() => undefined)) === undefined;
  });
  expect(await running.finish({ type: 'Application', name: 'Asked before the end' })).toBe(201);
  expect((await child.ended()).code).toBe(0);
  await nothingRuns();
}, 120_000);
