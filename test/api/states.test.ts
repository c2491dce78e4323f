import { randomUUID } from 'node:crypto';
import { openApp, type TestClient } from '../support/harness.ts';
import { between, createStates, type Machine, type Role } from '../support/states.ts';

/*
 * What becomes of decisions, statements of architecture work, surveys and their questions, findings, risks and occurrences of
 * tasks in each state, by each action of each role. The tables are those of the specification, and ask no rule of the service.
 */

const writers: readonly Role[] = ['admin', 'bpm_admin', 'member'];

const { t, db } = await openApp();
const states = await createStates(t, {
  'adr.manage': writers,
  'adr.sign': writers,
  'adr.delete': ['admin'],
  'soaw.manage': writers,
  'soaw.sign': writers,
  'compliance.manage': ['admin'],
  'risks.manage': writers,
  'surveys.manage': ['admin'],
  'surveys.respond': [...writers, 'viewer'],
});
const other = await t.as('admin', 'other signer');

/** A document that people sign; in review it waits for the signature of whoever acts alone. */
function signed(kind: 'adr' | 'soaw', more: Partial<Machine>): Machine {
  const url = `/api/v1/${kind}`;
  const table = `${kind}s`;
  const title = kind === 'adr' ? 'title' : 'name';
  const post = (act: string, body?: object) => (client: TestClient, id: string) =>
    client.post(`${url}/${id}/${act}`, body);
  return {
    table,
    column: 'status',
    states: ['draft', 'in_review', 'signed'],
    actions: {
      edit: (client, id) => client.patch(`${url}/${id}`, { [title]: randomUUID() }),
      request: post('request-signatures', { user_ids: [other.userId] }),
      sign: post('sign'),
      recall: post('recall-signatures'),
      reject: post('reject', { comment: 'Why now?' }),
      replace: (client, id) =>
        client.post(`${url}/${id}/replace-signatory`, { user_id: client.userId, new_user_id: other.userId }),
      revise: post('revise'),
      delete: (client, id) => client.delete(`${url}/${id}`),
      ...more.actions,
    },
    permission: (action) => `${kind}.${['sign', 'reject'].includes(action) ? 'sign' : 'manage'}`,
    moves: {
      'draft edit': 'draft',
      'draft request': 'in_review',
      'draft delete': null,
      'in_review sign': 'signed',
      'in_review recall': 'draft',
      'in_review reject': 'draft',
      'in_review replace': 'in_review',
      'signed revise': 'signed',
      ...more.moves,
    },
    refused: { 'signed edit': [403, 'document_signed'] },
    named: 'state',
    async make(status, again, role) {
      const id = again ?? (await states.made(url, { [title]: randomUUID() })).id;
      const own = {
        user_id: states.clients[role].userId,
        status: status === 'signed' ? 'signed' : 'pending',
        signed_at: null,
        content_hash: null,
      };
      await db(table).where({ parent_id: id }).delete();
      await db(table)
        .where({ id })
        .update({
          status,
          created_by: states.clients[role].userId,
          signatories: JSON.stringify(status === 'draft' ? [] : [own]),
        });
      return id;
    },
    ...(more.states ? { states: more.states } : {}),
  };
}

it('a decision', () => states.tryAll(signed('adr', {})));

it('the draft of somebody else', async () => {
  const machine = signed('adr', {});
  const { delete: remove } = machine.actions;
  await states.tryAll({
    ...machine,
    actions: { delete: remove! },
    permission: () => 'adr.delete',
    // who writes none has not even drafts of his own
    first: () => 'adr.manage',
    async make(state, again, role) {
      const id = await machine.make(state, again, role);
      await db('adrs').where({ id }).update({ created_by: other.userId });
      return id;
    },
  });
});

it('a statement of architecture work', async () => {
  await states.tryAll(
    signed('soaw', {
      // what came approved is changed and sent like a draft
      states: ['draft', 'in_review', 'approved', 'signed'],
      moves: {
        'approved edit': 'approved',
        'approved request': 'in_review',
        'in_review delete': null,
        'approved delete': null,
        'signed delete': null,
      },
    }),
  );
});

it('a survey', async () => {
  const url = '/api/v1/surveys';
  const { id: card } = await states.made('/api/v1/cards', { type: 'Application', name: randomUUID() });
  await states.made(`/api/v1/cards/${card}/stakeholders`, { user_id: other.userId, role: 'responsible' });
  const values = {
    target_type_key: 'Application',
    target_filters: { card_ids: [card] },
    target_roles: ['responsible'],
    fields: [{ key: 'businessCriticality' }],
  };
  await states.tryAll({
    table: 'surveys',
    column: 'status',
    named: 'survey_status',
    states: ['draft', 'active', 'closed'],
    actions: {
      edit: (client, id) => client.patch(`${url}/${id}`, { message: randomUUID() }),
      send: (client, id) => client.post(`${url}/${id}/send`),
      close: (client, id) => client.post(`${url}/${id}/close`),
      delete: (client, id) => client.delete(`${url}/${id}`),
    },
    permission: () => 'surveys.manage',
    moves: { 'draft edit': 'draft', 'draft send': 'active', 'draft delete': null, 'active close': 'closed' },
    async make(status, again) {
      const id = again ?? (await states.made(url, { name: randomUUID(), ...values })).id;
      await db('survey_responses').where({ survey_id: id }).delete();
      await db('surveys').where({ id }).update({ status });
      return id;
    },
  });
});

it('a question of a survey, while that is open and when it is not', async () => {
  const { id: card_id } = await states.made('/api/v1/cards', { type: 'Application', name: randomUUID() });
  const { id: survey_id } = await states.made('/api/v1/surveys', {
    name: randomUUID(),
    target_type_key: 'Application',
    fields: [{ key: 'businessCriticality', action: 'confirm' }],
  });
  for (const status of ['active', 'closed']) {
    const isOpen = status === 'active';
    await db('surveys').where({ id: survey_id }).update({ status });
    await states.tryAll({
      table: 'survey_responses',
      column: 'status',
      states: ['pending', 'completed'],
      actions: {
        answer: (client) =>
          client.post(`/api/v1/surveys/${survey_id}/respond/${card_id}`, {
            responses: { businessCriticality: { confirmed: true } },
          }),
      },
      permission: () => 'surveys.respond',
      moves: isOpen ? { 'pending answer': 'completed' } : {},
      async make(state, again, role) {
        const id = again ?? randomUUID();
        // nobody is asked who may answer none
        const user_id = role === 'participant' ? other.userId : states.clients[role].userId;
        await db('survey_responses')
          .insert({ id, survey_id, card_id, user_id, status: state })
          .onConflict('id')
          .merge({ user_id, status: state, responses: '{}', responded_at: null });
        return id;
      },
    });
  }
});

it('a finding', async () => {
  const url = '/api/v1/compliance/findings';
  const decisions = [
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
  const rest = decisions.filter((state) => state !== 'risk_tracked');
  await states.tryAll({
    table: 'compliance_findings',
    column: 'decision',
    states: decisions,
    actions: {
      ...Object.fromEntries(decisions.map((state) => [state, decide(state)])),
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
      ...Object.fromEntries(decisions.map((state) => [`${state} details`, state])),
      ...Object.fromEntries(rest.map((state) => [`${state} delete`, null])),
    },
    // only a promotion leads there
    never: { risk_tracked: 'validation_failed' },
    async make(state, again) {
      const values = { regulation: 'gdpr', requirement: 'A record.', status: 'partial', severity: 'low' };
      const id = again ?? (await states.made(url, values)).id;
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
  const statuses = Object.keys(table);
  const open = statuses.filter((state) => state !== 'closed');
  const move = (status: string) => (client: TestClient, id: string) =>
    client.patch(`${url}/${id}`, {
      status,
      ...(status === 'accepted' ? { acceptance_rationale: 'Small.' } : {}),
    });
  const card = await states.made('/api/v1/cards', { type: 'Application', name: randomUUID() });
  await states.tryAll({
    table: 'risks',
    column: 'status',
    states: statuses,
    actions: {
      ...Object.fromEntries(statuses.map((state) => [state, move(state)])),
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
      ...Object.fromEntries(statuses.map((state) => [`${state} delete`, null])),
    },
    async make(status, again) {
      const id = again ?? (await states.made(url, { title: randomUUID() })).id;
      const acceptance_rationale = status === 'accepted' ? 'Small.' : null;
      await db('risks').where({ id }).update({ status, acceptance_rationale });
      return id;
    },
  });
});

it('an occurrence of a mitigation task', async () => {
  const { id: risk } = await states.made('/api/v1/risks', { title: randomUUID() });
  const task = await states.made(`/api/v1/risks/${risk}/mitigation-tasks`, { title: 'Do it' });
  const { id } = task.occurrences[0]!;
  const act = (name: string) => (client: TestClient) =>
    client.post(`/api/v1/mitigation-tasks/${task.id}/occurrences/${id}/${name}`);
  await states.tryAll({
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
