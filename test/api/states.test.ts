import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openApp, type TestAnswer, type TestClient } from '../support/harness.ts';

/*
 * What may be done with a thing depends on where it stands and on who asks. Each test goes through all of it: every
 * state, every action, every kind of caller. The tables say what is expected in the words of the contract.
 */

const callers = ['admin', 'author', 'asked', 'viewer'] as const;
type Who = (typeof callers)[number];

const { t, db } = await openApp();
const [admin, author, asked, viewer] = await Promise.all([
  t.as('admin'),
  t.as('member', 'author'),
  t.as('member', 'asked'),
  t.as('viewer'),
]);
const client: Record<Who, TestClient> = { admin, author, asked, viewer };

/** An answer's status, with the code of a refusal where it tells more. */
const outcome = ({ status, body }: TestAnswer): string | number =>
  status >= 400 && body.code !== 'forbidden' && body.code !== 'wrong_state'
    ? `${status} ${body.code}`
    : status;

const card = async (): Promise<string> => (await client.admin.card()).id;

describe.each(['adr', 'soaw'] as const)('of %s', (kind) => {
  const states =
    kind === 'adr' ? ['draft', 'in_review', 'signed'] : ['draft', 'in_review', 'approved', 'signed'];
  type Act = (who: TestClient, at: string) => Promise<TestAnswer>;
  const actions: Record<string, Act> = {
    edit: (who, at) => who.patch(at, kind === 'adr' ? { decision: 'X' } : { name: 'X' }),
    request: (who, at) => who.post(`${at}/request-signatures`, { user_ids: [client.admin.userId] }),
    sign: (who, at) => who.post(`${at}/sign`),
    recall: (who, at) => who.post(`${at}/recall-signatures`),
    reject: (who, at) => who.post(`${at}/reject`, { comment: 'No' }),
    replace: (who, at) =>
      who.post(`${at}/replace-signatory`, {
        user_id: client.asked.userId,
        new_user_id: client.admin.userId,
      }),
    revise: (who, at) => who.post(`${at}/revise`),
    delete: (who, at) => who.delete(at),
  };
  /** From which states each action leads to which. */
  const moves: Record<string, Record<string, string>> = {
    edit: { draft: 'draft', approved: 'approved' },
    request: { draft: 'in_review', approved: 'in_review' },
    sign: { in_review: 'signed' },
    recall: { in_review: 'draft' },
    reject: { in_review: 'draft' },
    replace: { in_review: 'in_review' },
    revise: { signed: 'draft' },
  };
  const expected = (action: string, state: string, who: Who): string | number => {
    if (who === 'viewer') return 403;
    if (action === 'delete') {
      if (kind === 'soaw') return 204;
      if (who === 'asked') return 403;
      return state === 'draft' ? 204 : 409;
    }
    if (action === 'edit' && state === 'signed') return '403 document_signed';
    if (!moves[action]![state]) return 409;
    const signs = action === 'sign' || action === 'reject';
    return signs && who !== 'asked' ? '403 not_signatory' : 200;
  };

  /** One in a state: by the author, to be signed, or signed, by the one who is asked. */
  async function one(state: string): Promise<string> {
    const id = randomUUID();
    const isSigned = state === 'signed';
    const signatory = {
      user_id: client.asked.userId,
      status: isSigned ? 'signed' : 'pending',
      signed_at: isSigned ? new Date().toISOString() : null,
      content_hash: null,
    };
    numbered += 1;
    await db(`${kind}s`).insert({
      id,
      series_id: id,
      ...(kind === 'adr' ? { title: 'T', number: numbered } : { name: 'N', document_info: info }),
      status: state,
      created_by: client.author.userId,
      signatories: JSON.stringify(state === 'in_review' || isSigned ? [signatory] : []),
    });
    return id;
  }
  let numbered = 10_000;
  const info = JSON.stringify({ prepared_by: '', review_date: null, reviewed_by: '' });

  it.each(states)('from %s', async (state) => {
    const found: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const [action, act] of Object.entries(actions)) {
      for (const who of callers) {
        const id = await one(state);
        const answer = await act(client[who], `/api/v1/${kind}/${id}`);
        const name = `${action} by ${who}`;
        found[name] = outcome(answer);
        wanted[name] = expected(action, state, who);
        if (answer.status === 200) expect([name, answer.body.status]).toEqual([name, moves[action]![state]]);
        if (answer.status === 409 || answer.body?.code === 'document_signed')
          expect([name, answer.body.state]).toEqual([name, state]);
      }
    }
    expect(found).toEqual(wanted);
  });
});

describe('of surveys', () => {
  const actions: Record<string, (who: TestClient, id: string, cardId: string) => Promise<TestAnswer>> = {
    edit: (who, id) => who.patch(`/api/v1/surveys/${id}`, { message: 'X' }),
    delete: (who, id) => who.delete(`/api/v1/surveys/${id}`),
    send: (who, id) => who.post(`/api/v1/surveys/${id}/send`),
    close: (who, id) => who.post(`/api/v1/surveys/${id}/close`),
    answer: (who, id, cardId) =>
      who.post(`/api/v1/surveys/${id}/respond/${cardId}`, {
        responses: { businessCriticality: { confirmed: true } },
      }),
  };
  const moves: Record<string, Record<string, number>> = {
    edit: { draft: 200 },
    delete: { draft: 204 },
    send: { draft: 200 },
    close: { active: 200 },
  };
  const leadsTo: Record<string, string> = { edit: 'draft', send: 'active', close: 'closed' };

  it.each(['draft', 'active', 'closed'])('from %s', async (state) => {
    const cardId = await card();
    await db('stakeholders').insert({
      card_id: cardId,
      user_id: client.asked.userId,
      role: 'responsible',
    });
    const fields = [
      { key: 'businessCriticality', label: 'B', type: 'single_select', section: 'S', action: 'confirm' },
    ];
    const found: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const [action, act] of Object.entries(actions)) {
      for (const who of callers) {
        const [{ id }] = await db('surveys')
          .insert({
            name: randomUUID(),
            status: state,
            target_type_key: 'Application',
            target_roles: '["responsible"]',
            target_filters: JSON.stringify({ card_ids: [cardId] }),
            fields: JSON.stringify(fields),
          })
          .returning('id');
        // a draft has asked nobody yet
        if (state !== 'draft') {
          await db('survey_responses').insert({
            survey_id: id,
            card_id: cardId,
            user_id: client.asked.userId,
          });
        }
        const answer = await act(client[who], id, cardId);
        const name = `${action} by ${who}`;
        found[name] = outcome(answer);
        if (action === 'answer') {
          const isAsked = who === 'asked' && state !== 'draft';
          wanted[name] = !isAsked ? '404 not_found' : state === 'active' ? 200 : 409;
        } else wanted[name] = who !== 'admin' ? 403 : (moves[action]![state] ?? 409);
        if (answer.status === 200 && action in leadsTo) {
          expect([name, answer.body.status]).toEqual([name, leadsTo[action]]);
        }
        if (answer.status === 409 && action !== 'answer') expect(answer.body.survey_status).toBe(state);
      }
    }
    expect(found).toEqual(wanted);
  });
});

describe('of diagrams', () => {
  const actions: Record<string, (who: TestClient, at: string) => Promise<TestAnswer>> = {
    read: (who, at) => who.get(at),
    star: (who, at) => who.post(`${at}/favorite`),
    edit: (who, at) => who.patch(at, { description: 'X' }),
    hide: (who, at) => who.patch(at, { visibility: 'private' }),
    share: (who, at) => who.patch(at, { visibility: 'public' }),
    delete: (who, at) => who.delete(at),
  };
  const done: Record<string, number> = { star: 201, delete: 204 };

  it.each(['public', 'private', 'shared'])('that are %s', async (visibility) => {
    const shared_with = visibility === 'shared' ? [{ user_id: client.asked.userId, can_edit: true }] : [];
    const found: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const [action, act] of Object.entries(actions)) {
      for (const who of callers) {
        const made = await client.author.create('/api/v1/diagrams', { name: 'D', visibility, shared_with });
        const answer = await act(client[who], `/api/v1/diagrams/${made.id}`);
        const name = `${action} by ${who}`;
        found[name] = outcome(answer);
        const writes = !['read', 'star'].includes(action);
        const changes =
          (action === 'hide' && visibility !== 'private') || (action === 'share' && visibility !== 'public');
        const sees =
          visibility === 'public' || who === 'author' || (visibility === 'shared' && who === 'asked');
        // what is shared is not given away, and deleted by its maker alone
        const makers = changes || (action === 'delete' && visibility === 'shared');
        if (writes && who === 'viewer') wanted[name] = 403;
        else if (!sees) wanted[name] = '404 not_found';
        else wanted[name] = makers && who !== 'author' ? 403 : (done[action] ?? 200);
        if (changes && answer.status === 200) {
          expect(answer.body.visibility).toBe(action === 'hide' ? 'private' : 'public');
        }
      }
    }
    expect(found).toEqual(wanted);
  });
});
