import { randomUUID } from 'node:crypto';
import { expectInvalid, expectProblem, ok, openApp, refusal } from '../../support/harness.ts';
import { riskWorld, url } from './risks.fixture.ts';

const findings = '/api/v1/compliance/findings';

const { t, db, admin, member } = await openApp(['admin', 'member']);
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
    expect((await member.get(`${url}/${made.id}/mitigation-tasks`)).body.items).toMatchObject([
      {
        title: 'Remediate: Art. 32',
        description: 'Encrypt it.',
        owner_id: null,
        occurrences: [{ sequence: 1, status: 'open', due_date: null }],
      },
    ]);
    expect((await admin.get(`${findings}/${id}`)).body).toMatchObject({
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
    const { body } = await admin.delete(`${findings}/${id}`);
    expect(body).toMatchObject({ code: 'wrong_state', risk_id: made.id });
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
    const { body } = await admin.get(`${findings}/${id}`);
    expect(body).toMatchObject({ decision: 'in_review', risk_id: null, risk_reference: null });
    await admin.undo();
    expect(await decision(id)).toBe('risk_tracked');
  });

  it('is tracked by a risk that is there already, until it is unlinked', async () => {
    const card = await w.card();
    const id = await finding({ card_id: card });
    const risk = await w.risk();
    const at = `${findings}/${id}/risk`;
    const link = (risk_id: string, client = member) => client.put(at, { risk_id });
    const since = await admin.position();
    const linked = await ok(link(risk.id));
    expect(linked).toMatchObject({
      decision: 'risk_tracked',
      risk_id: risk.id,
      risk_reference: risk.reference,
      reviewed_by: member.userId,
    });
    expect((await member.get(`${url}/${risk.id}`)).body.cards).toMatchObject([
      { card_id: card, role: 'affected' },
    ]);
    expect((await member.get(`${findings}?risk_id=${risk.id}`)).body.items).toEqual([linked]);
    expect((await admin.changes(since)).map(({ event_type }) => event_type)).toEqual([
      'risk.added',
      'compliance_finding.updated',
    ]);
    const again = await link(risk.id);
    expect([again.body, again.headers['x-position']]).toEqual([linked, undefined]);
    // it follows the risk as a promoted one does
    await ok(member.patch(`${url}/${risk.id}`, { status: 'accepted', acceptance_rationale: 'Small.' }));
    expect((await admin.get(`${findings}/${id}`)).body).toMatchObject({
      decision: 'accepted',
      review_note: 'Small.',
    });
    const other = await w.risk();
    expect((await link(other.id)).body).toMatchObject({ code: 'wrong_state', risk_id: risk.id });
    expect((await ok(member.delete(at))).decision).toBe('in_review');
    await expectProblem(member.delete(at), 404, 'not_found');
    expect((await ok(link(other.id))).risk_id).toBe(other.id);
    await admin.undo();
    expect((await admin.get(`${findings}/${id}`)).body).toMatchObject({
      risk_id: null,
      decision: 'in_review',
    });
    expect((await member.get(`${url}/${other.id}`)).body.cards).toEqual([]);
  });

  it('takes the note of an accepted risk, and no closed or unknown one', async () => {
    const accepted = await w.risk();
    await ok(member.patch(`${url}/${accepted.id}`, { status: 'accepted', acceptance_rationale: 'Small.' }));
    const id = await finding();
    const at = `${findings}/${id}/risk`;
    await expectInvalid(member.put(at, { risk_id: randomUUID() }), 'risk_id unknown_risk');
    await expectProblem(member.put(`${findings}/${randomUUID()}/risk`, { risk_id: accepted.id }), 404);
    expect(await ok(member.put(at, { risk_id: accepted.id }))).toMatchObject({
      decision: 'accepted',
      review_note: 'Small.',
    });
    await ok(member.delete(at));
    await ok(member.patch(`${url}/${accepted.id}`, { status: 'closed' }));
    await expectProblem(member.put(at, { risk_id: accepted.id }), 409, 'wrong_state');
    const outdated = { 'if-match': '"x"' };
    await expectProblem(member.put(at, { risk_id: accepted.id }, outdated), 412, 'precondition_failed');
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

const send = (items: object[], dry_run = false) =>
  member.post(`${url}/bulk-import`, {
    items: items.map((item, n) => ({ row_index: n + 1, ...item })),
    dry_run,
  });

it('a try tells what the import does, row by row, and writes nothing', async () => {
  const card = await w.card({ name: 'Wages' });
  const there = await w.risk({ title: 'Flood' });
  const rows = [
    {
      title: 'Theft',
      owner_email: admin.email.toUpperCase(),
      card_names: ['wages', 'Nowhere'],
      status: 'in_progress',
    },
    { title: 'flood' },
    { title: 'Other', reference: there.reference },
    { title: 'Storm', category: 'weather' },
    {
      title: 'Quake',
      residual_probability: 'low',
      residual_impact: 'medium',
      target_resolution_date: '2031-01-01',
    },
  ];
  const since = await admin.position();
  const tried = await ok(send(rows, true));
  expect(await admin.changes(since, 'risk')).toEqual([]);
  const done = await send(rows);
  const plain = (body: typeof done.body) => ({
    ...body,
    dry_run: null,
    results: body.results.map((row: { status: string }) => ({
      ...row,
      ...(row.status === 'created' ? { id: null } : {}),
    })),
  });
  expect(plain(tried)).toEqual(plain(done.body));
  expect(tried.results[0].id).toBeNull();
  expect(done.body).toMatchObject({ created: 2, skipped: 2, failed: 1, dry_run: false });
  const [theft, flood, other, storm, quake] = done.body.results;
  expect(theft).toMatchObject({
    row_index: 1,
    status: 'created',
    warnings: ['no active card is called Nowhere'],
  });
  expect([flood.id, other.id]).toEqual([there.id, there.id]);
  expect(storm).toMatchObject({ status: 'failed', id: null, error: expect.stringContaining('category') });
  expect((await member.get(`${url}/${theft.id}`)).body).toMatchObject({
    reference: theft.reference,
    status: 'in_progress',
    owner_id: admin.userId,
    created_by: member.userId,
    cards: [{ card_id: card, role: 'affected' }],
  });
  expect((await member.get(`${url}/${quake.id}`)).body.residual_level).toBe('low');
  expect(await w.asked(admin.userId)).toEqual([`See to the risk ${theft.reference}: Theft`]);
  // once more: everything is there
  expect((await send(rows)).body).toMatchObject({ created: 0, skipped: 4, failed: 1 });
});

it('refuses what is no import', async () => {
  expect(await refusal(send([]))).toContain('items');
  expect(await refusal(send([{ title: 'T', target_resolution_date: 'soon' }]))).toContain(
    'items.0.target_resolution_date',
  );
  expect(await refusal(send([{ title: 'T', unknown: 1 }]))).toContain('validation_failed');
  await expectProblem(
    (await t.as('viewer')).post(`${url}/bulk-import`, { items: [{ row_index: 1, title: 'T' }] }),
    403,
  );
});

it('takes two thousand rows in a fixed number of statements, and undoes them', async () => {
  const before = await db('risks').count({ n: '*' }).first();
  const rows = Array.from({ length: 2000 }, (_, n) => ({
    title: `Many ${n}`,
    owner_email: member.email,
    card_names: ['wages'],
  }));
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  db.on('query', count);
  const done = await send(rows);
  db.off('query', count);
  expect(done.body, done.text.slice(0, 500)).toMatchObject({ created: 2000, failed: 0 });
  expect(statements).toBeLessThan(40);
  const numbers = done.body.results.map(({ reference }: { reference: string }) => Number(reference.slice(2)));
  expect(numbers).toEqual(numbers.map((_: number, n: number) => numbers[0] + n));
  expect(await db('todos').where({ assigned_to: member.userId, topic: 'risk' })).toHaveLength(2000);
  expect(before).toBeDefined();
});
