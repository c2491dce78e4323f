import { randomUUID } from 'node:crypto';
import { it } from 'vitest';
import { openApp, type TestClient } from '../../support/harness.ts';
import { between, createStates } from '../../support/states.ts';

/*
 * What becomes of findings, risks and occurrences of tasks in each state, by each action of each role. The tables are those
 * of the specification, and ask no rule of the service.
 */

const { t, db } = await openApp();
const { tryAll, made } = await createStates(t, {
  'compliance.manage': ['admin'],
  'risks.manage': ['admin', 'bpm_admin', 'member'],
});

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
      await db('compliance_findings').where({ id }).update({ decision: state });
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
      await db('risks').where({ id }).update({ status, acceptance_rationale });
      return id;
    },
  });
});

it('an occurrence of a mitigation task', async () => {
  const { id: risk } = await made('/api/v1/risks', { title: randomUUID() });
  const task = await made(`/api/v1/risks/${risk}/mitigation-tasks`, { title: 'Do it' });
  const { id } = task.occurrences[0]!;
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
      await db('risk_mitigation_occurrences').where({ id }).update({ status });
      return id;
    },
  });
});
