import { expect } from 'vitest';
import {
  expectProblem,
  pluck,
  type TestAnswer,
  type TestApp,
  type TestClient,
} from '../../support/harness.ts';

export const NOBODY = '00000000-0000-4000-8000-000000000000';

/** An event as the tests look at it. */
export interface WrittenEvent {
  event_type: string;
  card_id: string | null;
  peer_card_id: string | null;
  batch_id: string | null;
  relation_id: string | null;
  cost_keys: string[] | null;
  user_id: string | null;
  data: { name?: string; changes: Record<string, { old: unknown; new: unknown }> } & Record<string, unknown>;
}

/** Everything that writing cards and what is attached to them may touch, as text. */
async function stateOf(t: TestApp): Promise<string> {
  const { rows } = await t.services.db.raw(`
    select json_build_array(
      (select coalesce(json_agg(c order by id), '[]') from cards c),
      (select coalesce(json_agg(r order by id), '[]') from relations r),
      (select coalesce(json_agg(k order by card_id, tag_id), '[]') from card_tags k),
      (select coalesce(json_agg(s order by id), '[]') from stakeholders s),
      (select coalesce(json_agg(v order by topic), '[]') from topic_versions v),
      (select coalesce(json_agg(x order by id), '[]') from comments x),
      (select coalesce(json_agg(x order by id), '[]') from todos x),
      (select coalesce(json_agg(x order by id), '[]') from documents x),
      (select coalesce(json_agg(x order by id), '[]') from file_attachments x),
      (select coalesce(json_agg(x order by id), '[]') from files x),
      (select max(position) from events))::text as state`);
  return rows[0].state;
}

/** The events that `act` writes, in order, with its answer. */
export async function eventsOf(
  t: TestApp,
  act: () => Promise<TestAnswer>,
): Promise<{ answer: TestAnswer; events: WrittenEvent[] }> {
  const newest = () => t.services.db('events').max('position as position').first();
  const before = (await newest())?.position ?? 0;
  const answer = await act();
  const events = await t.services.db('events').where('position', '>', before).orderBy('position');
  if (events.length > 0) expect(answer.headers['x-position']).toBe(String(events.at(-1).position));
  return { answer, events };
}

/** Status and code of a refusal, which must leave the database as it was. */
export async function refused(
  t: TestApp,
  act: () => Promise<TestAnswer>,
): Promise<{ status: number; code: string; fields: string[]; body: TestAnswer['body'] }> {
  const before = await stateOf(t);
  const { status, body } = await act();
  expect(status).toBeGreaterThanOrEqual(400);
  expect(await stateOf(t)).toBe(before);
  const fields = pluck(body.errors ?? [], 'field');
  return { status, code: body.code, fields, body };
}

/** Expects a refusal as `expectProblem` does, that leaves the database as it was. */
export async function expectRefused(
  t: TestApp,
  act: () => Promise<TestAnswer>,
  ...problem: [status: number, reason?: string, ...fields: string[]]
): Promise<void> {
  const before = await stateOf(t);
  await expectProblem(act(), ...problem);
  expect(await stateOf(t)).toBe(before);
}

/** What the answer to a request that writes nothing is, with proof that it wrote nothing. */
export async function idle(t: TestApp, act: () => Promise<TestAnswer>): Promise<TestAnswer> {
  const before = await stateOf(t);
  const answer = await act();
  expect(answer.status).toBe(200);
  expect(await stateOf(t)).toBe(before);
  expect(answer.headers['x-position']).toBeUndefined();
  return answer;
}

let serial = 0;

/** Creates a card over the API, of the type Application and with a name of its own unless told. */
export async function make(
  client: TestClient,
  body: Record<string, unknown> = {},
): Promise<TestAnswer['body'] & { id: string }> {
  serial += 1;
  const answer = await client.post('/api/v1/cards', { type: 'Application', name: `Card ${serial}`, ...body });
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return answer.body;
}

/** Relates two cards over the API. */
export async function relate(client: TestClient, type: string, source_id: string, target_id: string) {
  const answer = await client.post('/api/v1/relations', { type, source_id, target_id });
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return answer.body as { id: string };
}

/** Gives a user a stakeholder role on a card. */
export async function appoint(t: TestApp, card: string, client: TestClient, role: string): Promise<void> {
  await t.services.db('stakeholders').insert({ card_id: card, user_id: client.userId, role });
}

/** A role of the test's own and a client that holds it. */
export async function withRole(t: TestApp, key: string, permissions: string[]): Promise<TestClient> {
  await t.services.db('roles').insert({
    key,
    label: key,
    permissions: JSON.stringify(Object.fromEntries(permissions.map((permission) => [permission, true]))),
  });
  return await t.as(key);
}

export const card = (id: string, rest = ''): string => `/api/v1/cards/${id}${rest}`;
