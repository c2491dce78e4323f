import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';
import { riskWorld, url } from './risks.fixture.ts';

const findings = '/api/v1/compliance/findings';

const { t, admin, member } = await openApp(['admin', 'member']);
const w = riskWorld(t, admin);

const finding = async (more: object = {}): Promise<string> =>
  (
    await admin.post(findings, {
      regulation: 'gdpr',
      regulation_article: 'Art. 32',
      requirement: 'Data is encrypted.',
      status: 'non_compliant',
      severity: 'critical',
      gap_description: 'It is not.',
      remediation: 'Encrypt it.',
      ...more,
    })
  ).body.id;
const promote = (id: string, body?: object, client = member) =>
  client.post(`${url}/promote/compliance/${id}`, body);
const decision = async (id: string) => (await admin.get(`${findings}/${id}`)).body.decision;

describe('a finding', () => {
  it('becomes a risk with its card and a task, once, and is left to it', async () => {
    const card = await w.card({ name: 'Vault' });
    const id = await finding({ card_id: card });
    const made = await ok(promote(id), 201);
    expect(made).toMatchObject({
      title: 'Art. 32: Vault',
      description: 'Data is encrypted.\n\nIt is not.',
      category: 'compliance',
      source_type: 'compliance',
      source_ref: 'gdpr',
      initial_probability: 'high',
      initial_impact: 'critical',
      initial_level: 'critical',
      created_by: member.userId,
      cards: [{ card_id: card }],
    });
    const tasks = (await member.get(`${url}/${made.id}/mitigation-tasks`)).body.items;
    expect(tasks).toMatchObject([
      {
        title: 'Remediate: Art. 32',
        description: 'Encrypt it.',
        owner_id: null,
        occurrences: [{ sequence: 1, status: 'open', due_date: null }],
      },
    ]);
    const tracked = (await admin.get(`${findings}/${id}`)).body;
    expect(tracked).toMatchObject({
      decision: 'risk_tracked',
      risk_id: made.id,
      risk_reference: made.reference,
      reviewed_by: member.userId,
    });
    const since = await admin.position();
    const again = await promote(id, { title: 'Other' });
    expect([again.status, again.body]).toEqual([200, made]);
    expect(await admin.changes(since, 'risk')).toEqual([]);
    // only the risk moves it now, and a refusal says which risk that is
    const refused = await admin.patch(`${findings}/${id}`, { decision: 'in_review' });
    expect(refused.body).toMatchObject({ code: 'wrong_state', risk_id: made.id });
    expect(refused.body.detail).toContain(made.reference);
    expect((await admin.delete(`${findings}/${id}`)).body).toMatchObject({
      code: 'wrong_state',
      risk_id: made.id,
    });
  });

  it('makes one risk, also when it is promoted twice at once', async () => {
    const id = await finding({ card_id: await w.card() });
    const both = await Promise.all([promote(id), promote(id, undefined, admin)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(both[0]!.body.id).toBe(both[1]!.body.id);
  });

  it('takes what the body says instead, and is undone whole', async () => {
    const id = await finding({ regulation_article: null });
    const body = { title: 'Mine', initial_probability: 'low', owner_id: member.userId, description: null };
    const made = await promote(id, body);
    expect(made.body).toMatchObject({
      title: 'Mine',
      initial_probability: 'low',
      initial_impact: 'critical',
      owner_id: member.userId,
      cards: [],
    });
    await admin.undo();
    await expectProblem(admin.get(`${url}/${made.body.id}`), 404);
    expect((await admin.get(`${findings}/${id}`)).body).toMatchObject({ decision: 'new', risk_id: null });
    expect((await promote(id)).body.title).toBe('gdpr: Data is encrypted.');
  });

  it('follows its risk, and is to be reviewed again without it', async () => {
    const id = await finding({ card_id: await w.card() });
    const at = `${url}/${(await promote(id)).body.id}`;
    const go = async (status: string, more: object = {}) => {
      await ok(member.patch(at, { status, ...more }));
      return await decision(id);
    };
    expect(await go('analysed')).toBe('risk_tracked');
    expect(await go('accepted', { acceptance_rationale: 'Small.' })).toBe('accepted');
    expect((await admin.get(`${findings}/${id}`)).body.review_note).toBe('Small.');
    expect(await go('in_progress')).toBe('risk_tracked');
    expect(await go('mitigated')).toBe('mitigated');
    expect(await go('monitoring')).toBe('mitigated');
    expect(await go('closed')).toBe('verified');
    expect(await go('in_progress')).toBe('risk_tracked');
    await ok(member.delete(at), 204);
    expect((await admin.get(`${findings}/${id}`)).body).toMatchObject({
      decision: 'in_review',
      risk_id: null,
      risk_reference: null,
    });
    await admin.undo();
    expect(await decision(id)).toBe('risk_tracked');
  });

  it('is promoted by those who may maintain risks and read findings', async () => {
    const id = await finding();
    await expectProblem(
      promote(id, undefined, await t.holding('inventory.view', 'risks.view', 'risks.manage')),
      403,
      'compliance.view',
    );
    await expectProblem(promote(id, undefined, await t.as('viewer')), 403, 'risks.manage');
    await expectProblem(promote(randomUUID()), 404, 'not_found');
    await expectInvalid(promote(id, { title: ' ', owner_id: randomUUID() }), 'title', 'owner_id');
  });
});
