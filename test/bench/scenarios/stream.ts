import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { streamLimits } from '../../../api/kernel/events/stream.limits.ts';
import { newApiToken } from '../../../domain/access/api-tokens.ts';
import type { Api } from '../harness/api.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import type { SseOrder, SseResult } from '../harness/sse-process.ts';

const SUBSCRIBERS = 1_000;
const EVENTS_PER_SECOND = 20;
const SECONDS = 15;
const program = path.join(import.meta.dirname, '../harness/sse-process.ts');

async function answer<T>(child: ChildProcess, order: SseOrder): Promise<T> {
  const ended = new AbortController();
  const exit = once(child, 'exit', { signal: ended.signal }).then(
    () => Promise.reject(new Error('The process of the subscribers has ended.')),
    () => undefined as never,
  );
  const message = once(child, 'message');
  child.send(order);
  try {
    const [value] = await Promise.race([message, exit]);
    return value as T;
  } finally {
    ended.abort();
  }
}

/** Changes cards at a steady pace. @returns when the change of each position was asked for. */
async function write(api: Api, ids: string[]): Promise<[position: number, ms: number][]> {
  const writes: Promise<[number, number]>[] = [];
  const start = performance.now();
  for (let n = 0; n < EVENTS_PER_SECOND * SECONDS; n += 1) {
    await delay(Math.max(0, start + (n * 1000) / EVENTS_PER_SECOND - performance.now()));
    const asked = performance.timeOrigin + performance.now();
    writes.push(
      api
        .fetch(`/cards/${ids[n % ids.length]}`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ alias: `event ${n}` }),
        })
        .then(async (changed) => {
          await changed.arrayBuffer();
          return [Number(changed.headers.get('x-position')), asked];
        }),
    );
  }
  return await Promise.all(writes);
}

/** Access tokens of as many users as the subscribers need. */
async function tokens(client: pg.Client): Promise<string[]> {
  const made = Array.from({ length: Math.ceil(SUBSCRIBERS / streamLimits.perUser) }, newApiToken);
  for (const [n, { hash, hint }] of made.entries()) {
    await client.query(
      `with reader as (
         insert into users (email, display_name, role) values ($1, $1, 'viewer') returning id)
       insert into api_tokens (user_id, name, hash, hint, scopes) select id, 'bench', $2, $3, '{*}' from reader`,
      [`reader-${n}-${hint}@bench.example`, hash, hint],
    );
  }
  return made.map(({ token }) => token);
}

async function run({ service, client, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const { api } = service;
  const { rows } = await client.query<{ id: string }>(
    `select id from cards where status = 'ACTIVE' order by id limit 50`,
  );
  const child = fork(program, { stdio: 'inherit' });
  try {
    await answer(child, {
      subscribe: {
        url: `${api.url}/api/v1/events/stream`,
        tokens: await tokens(client),
        subscribers: SUBSCRIBERS,
      },
    });
    log(`${SUBSCRIBERS} subscribers are connected`);
    const sentAt = await write(
      api,
      rows.map(({ id }) => id),
    );
    const { result } = await answer<{ result: SseResult }>(child, { sentAt });
    const frames = SUBSCRIBERS * sentAt.length;
    return [
      within(
        {
          figure: 'SSE, events that every subscriber got once and in order',
          value: ((frames - result.missing - result.repeated - result.outOfOrder) / frames) * 100,
          unit: '%',
        },
        100,
        100,
      ),
      under(
        { figure: 'SSE, from sending the change to the frame, p99', value: result.p99Ms, unit: 'ms' },
        1_000,
      ),
    ];
  } finally {
    child.kill('SIGKILL');
  }
}

/** A thousand streams that follow twenty changes a second. */
export const stream = { name: 'stream', run };
