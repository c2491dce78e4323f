import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, type TestAnswer, type TestApp, type TestClient } from '../support/harness.ts';

/*
 * What becomes of findings, risks, occurrences of tasks, decisions and statements in each state, by each action of each
 * role. The tables are those of the specification, and ask no rule of the service.
 */

const roles = ['admin', 'bpm_admin', 'member', 'viewer', 'participant'] as const;
type Role = (typeof roles)[number];
/** The permissions that the roles hold besides reading; a participant holds none at all. */
const holders: Record<string, readonly Role[]> = {
  'compliance.manage': ['admin'],
  'risks.manage': ['admin', 'bpm_admin', 'member'],
  'adr.manage': ['admin', 'bpm_admin', 'member'],
  'adr.sign': ['admin', 'bpm_admin', 'member'],
  'adr.delete': ['admin'],
  'soaw.manage': ['admin', 'bpm_admin', 'member'],
  'soaw.sign': ['admin', 'bpm_admin', 'member'],
};

let t: TestApp;
let maker: TestClient;
const clients = {} as Record<Role, TestClient>;
beforeAll(async () => {
  t = await createTestApp();
  await t.services.db('roles').insert({ key: 'participant', label: 'Participant', permissions: '{}' });
  await t.services.db.raw("select raise_topics(array['roles'])");
  for (const role of roles) clients[role] = await t.as(role);
  maker = await t.as('member', 'maker');
});
afterAll(() => t.close());

const made = async (url: string, body: object, client = clients.admin) => {
  const answer = await client.post(url, body);
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
  /** One in the state, on which the role may act where it may at all; `again` brings one that is there back to it. */
  make(state: string, role: Role, again?: string): Promise<string>;
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
      let id = await machine.make(state, role, last);
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
          // a document that was revised is not revised again
          const used = next === null || action === 'revise';
          id = await machine.make(state, role, used ? undefined : id);
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
    async make(state, _role, again) {
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
    async make(status, _role, again) {
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

describe.each([
  { kind: 'adr', states: ['draft', 'in_review', 'signed'], named: 'title' },
  { kind: 'soaw', states: ['draft', 'in_review', 'approved', 'signed'], named: 'name' },
])('a document that people sign ($kind)', ({ kind, states, named }) => {
  const url = `/api/v1/${kind}`;
  const post = (what: string, body?: object) => (client: TestClient, id: string) =>
    client.post(`${url}/${id}/${what}`, body);
  /** One in the state, in which the person is the only one who is asked. */
  async function document(status: string, asked: TestClient, again?: string): Promise<string> {
    const id = again ?? (await made(url, { [named]: randomUUID() }, maker)).id;
    const pending = { user_id: asked.userId, status: 'pending', signed_at: null, content_hash: null };
    const signed = {
      ...pending,
      status: 'signed',
      signed_at: new Date().toISOString(),
      content_hash: '0'.repeat(64),
    };
    const signatories = status === 'in_review' ? [pending] : status === 'signed' ? [signed] : [];
    await t.services
      .db(`${kind}s`)
      .where({ id })
      .update({ status, signatories: JSON.stringify(signatories) });
    // what was asked before is asked no more
    await t.services.db('todos').where({ subject_id: id }).delete();
    return id;
  }
  const machine = (signatory: (role: Role) => TestClient): Machine => ({
    table: `${kind}s`,
    column: 'status',
    states,
    actions: {
      edit: (client, id) => client.patch(`${url}/${id}`, { [named]: randomUUID() }),
      'request-signatures': (client, id) =>
        post('request-signatures', { user_ids: [maker.userId] })(client, id),
      sign: post('sign'),
      'recall-signatures': post('recall-signatures'),
      reject: post('reject', { comment: 'No.' }),
      revise: post('revise'),
      delete: (client, id) => client.delete(`${url}/${id}`),
    },
    permission: (action) =>
      action === 'delete' && kind === 'adr'
        ? 'adr.delete'
        : `${kind}.${['sign', 'reject'].includes(action) ? 'sign' : 'manage'}`,
    moves: {
      'draft edit': 'draft',
      'draft request-signatures': 'in_review',
      'in_review sign': 'signed',
      'in_review recall-signatures': 'draft',
      'in_review reject': 'draft',
      // the new revision is another document
      'signed revise': 'signed',
      ...(kind === 'adr'
        ? { 'draft delete': null }
        : {
            'approved edit': 'approved',
            'approved request-signatures': 'in_review',
            ...Object.fromEntries(states.map((state) => [`${state} delete`, null])),
          }),
    },
    // to delete one’s own is part of writing them
    first: (action) => (action === 'delete' ? `${kind}.manage` : undefined),
    make: (state, role, again) => document(state, signatory(role), again),
  });

  it('goes its way for those who are asked', () => tryAll(machine((role) => clients[role])));

  it('is signed and rejected by nobody else, and somebody else is asked by who may write it', async () => {
    const body = (role: Role) => ({ user_id: maker.userId, new_user_id: clients[role].userId });
    for (const state of states) {
      for (const role of roles) {
        const id = await document(state, maker);
        const may = holders[`${kind}.sign`]!.includes(role);
        const refused = state === 'in_review' ? [403, 'not_signatory'] : [409, 'wrong_state'];
        for (const action of [post('sign'), post('reject', { comment: 'No.' })]) {
          const answer = await action(clients[role], id);
          expect([answer.status, answer.body.code]).toEqual(may ? refused : [403, 'forbidden']);
        }
        // some of the roles could not sign in the place of another
        const answer = await clients[role].post(`${url}/${id}/replace-signatory`, body(may ? role : 'admin'));
        const outcome = [answer.status, answer.body.code];
        if (!holders[`${kind}.manage`]!.includes(role)) expect(outcome).toEqual([403, 'forbidden']);
        else if (state !== 'in_review') expect(outcome).toEqual([409, 'wrong_state']);
        else expect(answer.body.signatories, answer.text).toMatchObject([{ user_id: clients[role].userId }]);
      }
    }
  });
});
