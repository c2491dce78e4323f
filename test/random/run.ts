import type { Call, Row } from '../access/matrix.row.ts';
import { createWorld, type Role, type World } from '../access/world.ts';
import { mix, mulberry32, pick, type Random } from '../bench/landscape/random.ts';
import type { TestClient } from '../support/harness.ts';
import { allows, readOperations } from './operations.ts';
import { isWhole, LEAST_PER_GROUP, type Planned, plan } from './plan.ts';
import { findLeak, findStoredSecrets, plant } from './planted.ts';
import { toRequest } from './request.ts';
import { createTally } from './tally.ts';

export interface Outcome {
  table: string;
  /** What the service did wrong, each once for an operation. */
  faults: string[];
  /** Where the run was not as fair as a whole one must be. */
  shortfalls: string[];
}

/** After so many requests the run continues in a new world, as random writes make the old one unusable. */
const WORLD_LASTS = 2_000;

interface Stage {
  world: World;
  clients: Map<Role, TestClient>;
  /** Calls that were made before, whose objects may still be there. */
  calls: Map<Row, Call>;
  ids: Map<string, string[]>;
}

async function setUp(): Promise<Stage> {
  const world = await createWorld();
  await plant(world);
  return { world, clients: new Map(), calls: new Map(), ids: new Map() };
}

function remember(stage: Stage, call: Call): void {
  for (const [name, id] of Object.entries(call.path ?? {})) {
    const ids = stage.ids.get(name) ?? [];
    stage.ids.set(name, [...ids.slice(-30), id]);
  }
}

const known = (stage: Stage) => (name: string) => {
  const own = stage.ids.get(name) ?? [];
  return own.length > 0 || !/_ids?$|^ids$/.test(name) ? own : (stage.ids.get('id') ?? []);
};

/** How often what was made for a request serves another that is meant to succeed as well. */
const repeatable: Record<string, number> = { GET: 0.9, PATCH: 0.6 };

/** A call of the operation for the role; one of before where it may be used twice. */
async function callFor(stage: Stage, planned: Planned, random: Random): Promise<Call> {
  const { operation, role, mood } = planned;
  const fit = operation.rows.filter((row) => mood !== 'valid' || allows(row, role));
  const row = pick(random, fit.length > 0 ? fit : operation.rows);
  const before = stage.calls.get(row);
  // what a row makes for one role is not another's, and what has no id may be gone by now
  const again = (repeatable[operation.method] ?? 0) > random() && before?.path && row.call.length < 2;
  if (before && (mood !== 'valid' || again)) return before;
  const call = await row.call(stage.world, role);
  stage.calls.set(row, call);
  remember(stage, call);
  return call;
}

async function clientFor(stage: Stage, role: Role, passing: boolean): Promise<TestClient> {
  if (passing) return await stage.world.passing(role);
  const client = stage.clients.get(role) ?? (await stage.world.client(role));
  stage.clients.set(role, client);
  return client;
}

/** Puts the settings of the workspace back, so that a module that was switched off does not hide its operations. */
async function settle(stage: Stage, before: { key: string; value: unknown }[]): Promise<void> {
  const { db } = stage.world.t.services;
  await db('settings').where('key', 'like', 'workspace.%').delete();
  for (const { key, value } of before) await db('settings').insert({ key, value: JSON.stringify(value) });
  await db.raw("select record_events('[]'::jsonb, array['settings'])");
}

/** Another service's fault. */
const REMOTE_FAILED = 502;

/** Makes the requests one after the other. The same seed makes the same choices. */
export async function runRequests(requests: number, seed: number): Promise<Outcome> {
  const random = mulberry32(mix(seed, 7));
  let stage = await setUp();
  const operations = readOperations(stage.world.t.app.swagger());
  const tally = createTally(operations.map(({ name }) => name));
  const faults = new Map<string, { text: string; times: number }>();
  const fault = (operation: string, text: string) => {
    const key = `${operation} ${text.slice(0, 120).replace(/[0-9a-f-]{36}|\d+/g, '#')}`;
    if (!faults.has(key)) console.error(`FAULT ${operation}: ${text}`);
    faults.set(key, {
      text: faults.get(key)?.text ?? `${operation}: ${text}`,
      times: (faults.get(key)?.times ?? 0) + 1,
    });
  };
  const settings = () =>
    stage.world.t.services.db('settings').where('key', 'like', 'workspace.%').select('key', 'value');
  let stored = await settings();
  const close = async () => {
    for (const name of await findStoredSecrets(stage.world)) fault(name, 'stores a secret that can be read');
    await stage.world.close();
  };
  const planned = plan(operations, requests, random);
  try {
    for (const [at, next] of planned.entries()) {
      if (at > 0 && at % WORLD_LASTS === 0) {
        console.log(`# ${at} of ${planned.length} requests, ${faults.size} kinds of fault`);
        await close();
        stage = await setUp();
        stored = await settings();
      }
      const { operation, group, role, mood } = next;
      let call: Call;
      try {
        call = await callFor(stage, next, random);
      } catch (error) {
        // the world is worn out: what was written at random may forbid what the table's rows need
        await close();
        stage = await setUp();
        stored = await settings();
        call = await callFor(stage, next, random).catch((second) => {
          fault(operation.name, `the row cannot be set up: ${second} after ${error}`);
          return {};
        });
      }
      const client = await clientFor(stage, role, call.usesToken === true);
      if (call.send) {
        const status = await call.send(stage.world, client.token);
        tally.add(operation.name, group, status);
        if (status >= 500 && status !== REMOTE_FAILED)
          fault(operation.name, `${role} was answered ${status}`);
        continue;
      }
      const request = toRequest(operation, call, mood, known(stage), random);
      try {
        const answer = await client.request(request);
        await call.after?.();
        tally.add(operation.name, group, answer.status);
        if (mood === 'valid' && answer.status >= 400 && operation.rows.some((row) => allows(row, role)))
          tally.refused(operation.name, `${role} ${request.url} -> ${answer.text.slice(0, 300)}`);
        // 501 is what OData says of options that are not supported
        const inOrder =
          answer.status === REMOTE_FAILED || (answer.status === 501 && request.url.startsWith('/odata/'));
        if (answer.status >= 500 && !inOrder)
          fault(operation.name, `${role} ${request.url} was answered ${answer.text.slice(0, 300)}`);
        const leak = await findLeak(stage.world, role, client.userId, answer);
        if (leak) fault(operation.name, `${leak}: ${request.url} -> ${answer.text.slice(0, 300)}`);
        if (answer.status === 401 && client.token !== '' && !request.headers?.authorization)
          stage.clients.set(role, await stage.world.passing(role));
        if (answer.status < 300 && operation.method !== 'GET' && operation.path.includes('/settings/'))
          await settle(stage, stored);
      } catch (error) {
        tally.add(operation.name, group, 599);
        const sent = `${role} ${request.url.slice(0, 300)} ${JSON.stringify(request.headers)} ${String(request.payload ?? '').slice(0, 500)}`;
        fault(operation.name, `${(error as Error).message}\n    sent (${mood}): ${sent}`);
      }
    }
  } finally {
    await close();
  }
  return {
    table: tally.table(),
    faults: [...faults.values()].map(({ text, times }) => `${times} x ${text}`),
    shortfalls: tally.shortfalls(isWhole(requests) ? LEAST_PER_GROUP : 0),
  };
}
