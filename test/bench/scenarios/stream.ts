import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { streamLimits } from '../../../api/kernel/events/stream.limits.ts';
import { newApiToken } from '../../../domain/access/api-tokens.ts';
import type { Api } from '../harness/api.ts';
import { cardIds } from '../harness/database.ts';
import { startProgram } from '../harness/programs.ts';
import { under, within } from '../harness/rows.ts';
import type { Scenario } from '../harness/scenario.ts';
import type { SseResult } from '../programs/sse.ts';

const SUBSCRIBERS = 1_000;
const EVENTS_PER_SECOND = 20;
const SECONDS = 15;

/** Changes cards at a steady pace. @returns when the change of each position was sent. */
async function write(api: Api, ids: string[]): Promise<[position: number, ms: number][]> {
  const writes: Promise<[number, number]>[] = [];
  const start = performance.now();
  for (let n = 0; n < EVENTS_PER_SECOND * SECONDS; n += 1) {
    await delay(Math.max(0, start + (n * 1000) / EVENTS_PER_SECOND - performance.now()));
    const sentAt = performance.timeOrigin + performance.now();
    const change = async (): Promise<[number, number]> => {
      const changed = await api.send('PATCH', `/cards/${ids[n % ids.length]}`, { alias: `event ${n}` });
      await changed.arrayBuffer();
      return [Number(changed.headers.get('x-position')), sentAt];
    };
    writes.push(change());
  }
  return await Promise.all(writes);
}

/** Access tokens of as many users as the subscribers need. */
async function createTokens(client: pg.Client): Promise<string[]> {
  const made = Array.from({ length: Math.ceil(SUBSCRIBERS / streamLimits.perUser) }, newApiToken);
  for (const [n, { hash, hint }] of made.entries())
    await client.query(
      `with reader as (
         insert into users (email, display_name, role) values ($1, $1, 'viewer') returning id)
       insert into api_tokens (user_id, name, hash, hint, scopes) select id, 'bench', $2, $3, '{*}' from reader`,
      [`reader-${n}-${hint}@bench.example`, hash, hint],
    );
  return made.map(({ token }) => token);
}

/** A thousand event streams while twenty cards a second are changed. */
export const stream: Scenario = {
  name: 'stream',
  async run({ api, client, log }) {
    using program = startProgram('sse');
    const url = `${api.url}/api/v1/events/stream`;
    const tokens = await createTokens(client);
    await program.ask({ subscribe: { url, tokens, subscribers: SUBSCRIBERS } });
    log(`${SUBSCRIBERS} subscribers are connected`);
    const sentAt = await write(api, await cardIds(client, 'Application', 50));
    const result = await program.ask<SseResult>({ sentAt });
    const frames = SUBSCRIBERS * sentAt.length;
    const right = frames - result.missing - result.repeated - result.outOfOrder;
    return [
      within('SSE, events that every subscriber got once and in order', (right / frames) * 100, '%', 100),
      under('SSE, from sending the change to the frame, p99', result.p99Ms, 'ms', 1_000),
    ];
  },
};
