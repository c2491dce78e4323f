import { answered, expectProblem, type Problem, pluck, type TestResponse } from './answers.ts';
import type { TestApp, TestClient } from './harness.ts';

export const NOBODY = '00000000-0000-4000-8000-000000000000';

/** The address of a card, or below it. */
export const card = (id: string, rest = ''): string => `/api/v1/cards/${id}${rest}`;

/** An event as the tests look at it. */
interface WrittenEvent {
  position: string;
  event_type: string;
  card_id: string | null;
  peer_card_id: string | null;
  batch_id: string | null;
  relation_id: string | null;
  cost_keys: string[] | null;
  user_id: string | null;
  data: { name?: string; changes: Record<string, { old: unknown; new: unknown }> } & Record<string, unknown>;
}

type Act = () => Promise<TestResponse>;

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

/** The events that `act` or a job that it awaits writes, in order, with its answer. @param status what the answer must have. */
export async function eventsDuring({ services: { db } }: TestApp, act: Act, status?: number) {
  const before = (await db('events').max('position as position').first())?.position ?? 0;
  const answer = await (status ? answered(act(), status) : act());
  const events: WrittenEvent[] = await db('events').where('position', '>', before).orderBy('position');
  return { answer, events };
}

/** What requests to a service write, or that they write nothing. */
export const writesOf = (t: TestApp) => ({
  /** The events that a request writes, in order, with its answer, which names the last one. @param status of the answer. */
  async eventsOf(act: Act, status?: number) {
    const { answer, events } = await eventsDuring(t, act, status);
    if (events.length > 0) expect(answer.headers['x-position']).toBe(String(events.at(-1)!.position));
    return { answer, events };
  },

  /** Status, code and fields of a refusal, which must leave the database as it was. */
  async refused(act: Act) {
    const before = await stateOf(t);
    const { status, body } = await act();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await stateOf(t)).toBe(before);
    return { status, code: body.code, fields: pluck(body.errors ?? [], 'field'), body };
  },

  /** Expects a refusal as `expectProblem` does, that leaves the database as it was. */
  async expectRefused(act: Act, ...problem: Problem): Promise<void> {
    const before = await stateOf(t);
    await expectProblem(act(), ...problem);
    expect(await stateOf(t)).toBe(before);
  },

  /** Expects that a request is refused for the values of the fields, and leaves the database as it was. */
  async expectInvalid(act: Act, ...fields: [string, ...string[]]): Promise<void> {
    const before = await stateOf(t);
    await expectProblem(act(), 422, 'validation_failed', ...fields);
    expect(await stateOf(t)).toBe(before);
  },

  /** What the answer to a request that writes nothing is, with proof that it wrote nothing. */
  async idle(act: Act): Promise<TestResponse> {
    const before = await stateOf(t);
    const answer = await act();
    expect(answer.status).toBe(200);
    expect(await stateOf(t)).toBe(before);
    expect(answer.headers['x-position']).toBeUndefined();
    return answer;
  },

  /** Gives a user a stakeholder role on a card. */
  async appoint(card_id: string, { userId }: TestClient, role: string): Promise<void> {
    await t.services.db('stakeholders').insert({ card_id, user_id: userId, role });
  },
});
