import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApp, type TestAnswer, type TestApp, type TestClient } from '../../support/harness.ts';

/*
 * What becomes of findings, risks and occurrences of tasks in each state, by each action of each role. The tables are those
 * of the specification, and ask no rule of the service.
 */

const roles = ['admin', 'bpm_admin', 'member', 'viewer', 'participant'] as const;
type Role = (typeof roles)[number];
/** The permissions that the roles hold besides reading; a participant holds none at all. */
const holders: Record<string, readonly Role[]> = {
  'compliance.manage': ['admin'],
  'risks.manage': ['admin', 'bpm_admin', 'member'],
};

let t: TestApp;
const clients = {} as Record<Role, TestClient>;
beforeAll(async () => {
  t = await createTestApp();
  await t.services.db('roles').insert({ key: 'participant', label: 'Participant', permissions: '{}' });
  await t.services.db.raw("select raise_topics(array['roles'])");
  for (const role of roles) clients[role] = await t.as(role);
});
afterAll(() => t.close());

const made = async (url: string, body: object) => {
  const answer = await clients.admin.post(url, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};

/** Everything that has states. */
interface Machine {
  table: string;
  /** The column of its state. */
  column: string;
  states: readonly string[];
  /** What an action asks of the service. */
  actions: Record<string, (client: TestClient, id: string) => Promise<TestAnswer>>;
  /** The permission of an action. */
  permission(action: string): string;
  /** What somebody who may write nothing is told to lack, where it is another one. */
  first?(action: string, role: Role): string | undefined;
  /** By `state action`: the state afterwards, or null for what is gone. Any other pair is refused. */
  moves: Record<string, string | null>;
  /** One in the state: a new one, or `again` the one that is there. */
  make(state: string, again?: string): Promise<string>;
  /** The code of what is never taken, whatever the state. */
  never?: Record<string, string>;
}

async function stateOf({ table, column }: Machine, id: string): Promise<string | null> {
  const row = await t.services.db(table).where({ id }).first(column);
  return row ? row[column] : null;
}

async function tryAll(machine: Machine): Promise<void> {
  let last: string | undefined;
  for (const state of machine.states) {
    for (const role of roles) {
      let id = await machine.make(state, last);
      for (const [action, act] of Object.entries(machine.actions)) {
        const triple = `${state} ${action} ${role}`;
        const permission = machine.permission(action);
        const answer = await act(clients[role], id);
        const told = `${triple}: ${answer.status} ${answer.text}`;
        const next = machine.moves[`${state} ${action}`];
        if (!holders[permission]!.includes(role)) {
          const none = role === 'participant' || role === 'viewer';
          const lacks = none ? (machine.first?.(action, role) ?? permission) : permission;
          expect([answer.status, answer.body.permission], told).toEqual([403, lacks]);
        } else if (machine.never?.[action]) {
          expect([answer.status, answer.body.code], told).toEqual([422, machine.never[action]]);
        } else if (next === undefined) {
          expect([answer.status, answer.body.code], told).toEqual([409, 'wrong_state']);
        } else {
          expect(answer.status, told).toBeLessThan(300);
          expect(await stateOf(machine, id), told).toBe(next);
          id = await machine.make(state, next === null ? undefined : id);
          continue;
        }
        expect(await stateOf(machine, id), told).toBe(state);
      }
      last = id;
    }
  }
}

/** Moves from a state to others, as `from: [to, to]`. */
const between = (table: Record<string, readonly string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(table).flatMap(([from, to]) => to.map((one) => [`${from} ${one}`, one])));

it('a finding', async () => {
  const url = '/api/v1/compliance/findings';
  const states = [
    'new',
    'in_review',
    'mitigated',
    'verified',
    'accepted',
    'not_applicable',
    'risk_tracked',
  ] as const;
  const decide = (decision: string) => (client: TestClient, id: string) =>
    client.patch(`${url}/${id}`, { decision, review_note: 'Seen.' });
  const rest = states.filter((state) => state !== 'risk_tracked');
  await tryAll({
    table: 'compliance_findings',
    column: 'decision',
    states,
    actions: {
      ...Object.fromEntries(states.map((state) => [state, decide(state)])),
      details: (client, id) => client.patch(`${url}/${id}/details`, { remediation: randomUUID() }),
      delete: (client, id) => client.delete(`${url}/${id}`),
    },
    permission: () => 'compliance.manage',
    moves: {
      ...between({
        new: ['in_review', 'accepted', 'not_applicable'],
        in_review: ['mitigated', 'accepted', 'not_applicable', 'new'],
        mitigated: ['verified', 'in_review'],
        verified: ['in_review'],
        accepted: ['in_review'],
        not_applicable: ['in_review'],
      }),
      ...Object.fromEntries(states.map((state) => [`${state} details`, state])),
      ...Object.fromEntries(rest.map((state) => [`${state} delete`, null])),
    },
    // only a promotion leads there
    never: { risk_tracked: 'validation_failed' },
    async make(state, again) {
      const values = { regulation: 'gdpr', requirement: 'A record.', status: 'partial', severity: 'low' };
      const id = again ?? (await made(url, values)).id;
      await t.services.db('compliance_findings').where({ id }).update({ decision: state });
      return id;
    },
  });
});

it('a risk', async () => {
  const url = '/api/v1/risks';
  const table = {
    identified: ['analysed', 'accepted'],
    analysed: ['mitigation_planned', 'accepted'],
    mitigation_planned: ['in_progress', 'accepted'],
    in_progress: ['mitigated', 'accepted'],
    mitigated: ['monitoring', 'closed', 'in_progress'],
    monitoring: ['closed', 'in_progress', 'accepted'],
    accepted: ['in_progress', 'closed'],
    closed: ['in_progress'],
  };
  const states = Object.keys(table);
  const open = states.filter((state) => state !== 'closed');
  const move = (status: string) => (client: TestClient, id: string) =>
    client.patch(`${url}/${id}`, {
      status,
      ...(status === 'accepted' ? { acceptance_rationale: 'Small.' } : {}),
    });
  const card = await made('/api/v1/cards', { type: 'Application', name: randomUUID() });
  await tryAll({
    table: 'risks',
    column: 'status',
    states,
    actions: {
      ...Object.fromEntries(states.map((state) => [state, move(state)])),
      edit: (client, id) => client.patch(`${url}/${id}`, { description: randomUUID() }),
      link: (client, id) => client.post(`${url}/${id}/cards`, { card_ids: [card.id] }),
      delete: (client, id) => client.delete(`${url}/${id}`),
    },
    permission: () => 'risks.manage',
    moves: {
      ...between(table),
      // what stays as it is moves nowhere
      ...Object.fromEntries(open.map((state) => [`${state} ${state}`, state])),
      'closed closed': 'closed',
      ...Object.fromEntries(open.map((state) => [`${state} edit`, state])),
      ...Object.fromEntries(open.map((state) => [`${state} link`, state])),
      ...Object.fromEntries(states.map((state) => [`${state} delete`, null])),
    },
    async make(status, again) {
      const id = again ?? (await made(url, { title: randomUUID() })).id;
      const acceptance_rationale = status === 'accepted' ? 'Small.' : null;
      await t.services.db('risks').where({ id }).update({ status, acceptance_rationale });
      return id;
    },
  });
});

it('an occurrence of a mitigation task', async () => {
  const { id: risk } = await made('/api/v1/risks', { title: randomUUID() });
  const task = await made(`/api/v1/risks/${risk}/mitigation-tasks`, { title: 'Do it' });
  const [{ id }] = task.occurrences;
  const act = (name: string) => (client: TestClient) =>
    client.post(`/api/v1/mitigation-tasks/${task.id}/occurrences/${id}/${name}`);
  await tryAll({
    table: 'risk_mitigation_occurrences',
    column: 'status',
    states: ['scheduled', 'open', 'done', 'skipped'],
    actions: { promote: act('promote'), complete: act('complete'), skip: act('skip') },
    permission: () => 'risks.manage',
    // who only looks at risks ends what is assigned to him
    first: (action, role) => (action === 'promote' || role === 'viewer' ? undefined : 'risks.view'),
    moves: { 'scheduled promote': 'open', 'open complete': 'done', 'open skip': 'skipped' },
    async make(status) {
      await t.services.db('risk_mitigation_occurrences').where({ id }).update({ status });
      return id;
    },
  });
});
