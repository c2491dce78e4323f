import { randomUUID } from 'node:crypto';
import { expectInvalid, expectProblem, ok, openApp, pluck, refusal } from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';

const url = '/api/v1/compliance/findings';
const values = { regulation: 'gdpr', requirement: 'Keep a record.', status: 'partial', severity: 'low' };

const { t, db, admin, viewer } = await openApp(['admin', 'viewer']);

const card = async (more: Record<string, unknown> = {}): Promise<string> => (await admin.card(more)).id;
const finding = async (more: Record<string, unknown> = {}): Promise<string> =>
  (await admin.create(url, { ...values, ...more })).id;
/** A finding as a scan leaves it. */
async function stored(more: Record<string, unknown>): Promise<string> {
  const [row] = await db('compliance_findings')
    .insert({ ...values, rule_key: 'test.rule', run_id: randomUUID(), ...more })
    .returning('id');
  return row.id;
}
const told = async (since: string, client = admin) => await client.changes(since, 'compliance_finding.');

describe('a finding', () => {
  it('is written, read, listed, changed and deleted, with an event in its card’s history for each', async () => {
    const card_id = await card({ name: 'Payroll' });
    const since = await admin.position();
    const made = await admin.post(url, { ...values, card_id, category: 'records', evidence: 'Seen.' });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      run_id: '00000000-0000-0000-0000-000000000000',
      regulation: 'gdpr',
      card_id,
      card_name: 'Payroll',
      card_type: 'Application',
      card_has_ai_features: null,
      scope_type: 'card',
      gap_description: '',
      evidence: 'Seen.',
      remediation: null,
      ai_detected: false,
      risk_id: null,
      decision: 'new',
      reviewed_by: null,
      auto_resolved: false,
      last_seen_run_id: null,
    });
    const { id } = made.body;
    const read = await viewer.get(`${url}/${id}`);
    expect(read.body).toEqual(made.body);
    expect(read.headers.etag).toBe(made.headers.etag);
    expect((await viewer.get(`${url}?search=payroll`)).body.items).toEqual([made.body]);

    const patched = await admin.patch(
      `${url}/${id}/details`,
      { severity: 'high', evidence: null },
      { 'if-match': read.headers.etag! },
    );
    expect(patched.body).toMatchObject({ severity: 'high', evidence: null, category: 'records' });
    expect((await admin.patch(`${url}/${id}/details`, { severity: 'high' })).body).toEqual(patched.body);
    await ok(admin.delete(`${url}/${id}`), 204);
    expect(await told(since, viewer)).toMatchObject([
      {
        event_type: 'compliance_finding.created',
        card_id,
        data: { id, regulation: 'gdpr', changes: { severity: { old: null, new: 'low' } } },
      },
      {
        event_type: 'compliance_finding.updated',
        data: { changes: { severity: { old: 'low', new: 'high' }, evidence: { old: 'Seen.', new: null } } },
      },
      { event_type: 'compliance_finding.deleted', data: { changes: { requirement: { new: null } } } },
    ]);
    const history = (await viewer.get(`/api/v1/cards/${card_id}/history`)).body.items;
    expect(pluck(history, 'event_type')).toContain('compliance_finding.updated');
  });

  it('is refused where it does not fit', async () => {
    const unknown = randomUUID();
    await expectInvalid(admin.post(url, { ...values, regulation: 'hipaa' }), 'regulation');
    await expectInvalid(
      admin.post(url, { ...values, card_id: unknown, requirement: ' ' }),
      'requirement',
      'card_id',
    );
    expect(await refusal(admin.post(url, { ...values, status: 'fine' }))).toContain('validation_failed');
    await expectProblem(
      admin.patch(`${url}/${await stored({})}/details`, { card_id: await card() }),
      409,
      'wrong_state',
    );
  });

  it('is filtered, sorted and walked through like any list', async () => {
    const card_id = await card();
    const ids = [
      await finding({ card_id, severity: 'medium', category: 'x' }),
      await finding({ card_id, severity: 'critical', status: 'non_compliant' }),
      await stored({ card_id, severity: 'info', auto_resolved: true }),
    ];
    const found = async (query: string) =>
      pluck((await viewer.get(`${url}?card_id=${card_id}&${query}`)).body.items, 'id');
    expect(await found('sort_by=severity&sort_dir=asc')).toEqual([ids[1], ids[0]]);
    expect(await found('include_auto_resolved=true')).toEqual([ids[2], ids[1], ids[0]]);
    expect(await found('status=non_compliant')).toEqual([ids[1]]);
    expect(await found('category=x&severity=medium&scope_type=card&decision=new')).toEqual([ids[0]]);
    expect(await found('scope_type=landscape')).toEqual([]);
    expect(await found('regulation=nis2')).toEqual([]);
    const first = await viewer.get(`${url}?card_id=${card_id}&page_size=1&cursor=&fields=id`);
    expect(first.body.items).toEqual([{ id: ids[1] }]);
    const next = await viewer.get(
      `${url}?card_id=${card_id}&page_size=1&fields=id&cursor=${first.body.next_cursor}`,
    );
    expect(next.body).toMatchObject({ items: [{ id: ids[0] }], next_cursor: null });

    const of = `/api/v1/cards/${card_id}/compliance-findings`;
    expect((await viewer.get(of)).body.total).toBe(2);
    // an archived card's findings show with the card alone
    await ok(admin.post(`/api/v1/cards/${card_id}/archive`));
    expect(await found('')).toEqual([]);
    expect((await viewer.get(`${of}?include_auto_resolved=true`)).body.total).toBe(3);
  });

  it('shows with its card alone, and to nobody who may not read compliance', async () => {
    const since = await admin.position();
    const hidden = await card({ type: 'Platform' });
    const id = await finding({ card_id: hidden });
    const hide = async (is_hidden: boolean) => {
      await db('card_types').where({ key: 'Platform' }).update({ is_hidden });
      await db.raw(`select raise_topics(array['metamodel'])`);
    };
    await hide(true);
    await expectProblem(admin.get(`${url}/${id}`), 404, 'not_found');
    await expectProblem(admin.delete(`${url}/${id}`), 404, 'not_found');
    expect((await admin.get(`${url}?card_id=${hidden}`)).body.items).toEqual([]);
    await hide(false);

    const reader = await t.holding('inventory.view');
    expect(await told(since, reader)).toEqual([]);
    expect(await told(since, viewer)).not.toEqual([]);
    await expectProblem(reader.get(url), 403, 'forbidden');
    const other = await t.holding('inventory.view', 'compliance.view', 'compliance.manage');
    expect(await told(since, other)).toEqual([]);
    await expectProblem(other.get(url), 403, 'grc.view');
    await expectProblem(other.delete(`${url}/${id}`), 403, 'grc.manage');
  });

  it('goes with its card, and moves with a merge, and comes back with either', async () => {
    const gone = await card();
    const id = await finding({ card_id: gone });
    await ok(admin.delete(`/api/v1/cards/${gone}`));
    await expectProblem(admin.get(`${url}/${id}`), 404);
    await admin.undo();
    expect((await admin.get(`${url}/${id}`)).body.card_id).toBe(gone);

    const survivor = await card();
    await ok(merge(admin, survivor, [gone]));
    expect((await admin.get(`${url}/${id}`)).body.card_id).toBe(survivor);
  });
});

describe('a decision', () => {
  it('is kept with who and when, and refused with what is allowed instead', async () => {
    const id = await finding();
    expect((await admin.patch(`${url}/${id}`, { decision: 'verified' })).body).toMatchObject({
      code: 'wrong_state',
      decision: 'new',
      allowed: ['in_review', 'accepted', 'not_applicable'],
    });
    const decided = await admin.patch(`${url}/${id}`, { decision: 'accepted', review_note: 'Seen.' });
    const { body } = decided;
    expect(body).toMatchObject({ decision: 'accepted', reviewed_by: admin.userId, review_note: 'Seen.' });
    expect(decided.body.reviewed_at).not.toBeNull();
    const kept = (await admin.get(`/api/v1/accounts/${admin.userId}/personal-data`)).body;
    expect(pluck(kept.compliance_reviews, 'id')).toContain(id);
  });

  it('to accept needs a note', async () => {
    const id = await finding();
    await expectInvalid(
      admin.patch(`${url}/${id}`, { decision: 'accepted', review_note: ' ' }),
      'review_note',
    );
    await expectInvalid(admin.patch(`${url}/bulk`, { ids: [id], decision: 'accepted' }), 'review_note');
  });

  it('is taken for many at once, which says which were skipped and why, and is undone as one', async () => {
    const [fresh, ended, tracked] = [
      await finding(),
      await stored({ decision: 'verified' }),
      await stored({ decision: 'risk_tracked' }),
    ];
    const unknown = randomUUID();
    const since = await admin.position();
    const ids = [fresh, ended, unknown, fresh.toUpperCase(), tracked];
    const decided = await admin.patch(`${url}/bulk`, { ids, decision: 'not_applicable' });
    expect(decided.body.updated).toBe(1);
    expect(pluck(decided.body.skipped, 'id', 'code')).toEqual([
      [ended, 'wrong_state'],
      [unknown, 'not_found'],
      [tracked, 'wrong_state'],
    ]);
    expect(await told(since)).toMatchObject([
      { data: { id: fresh, changes: { decision: { old: 'new', new: 'not_applicable' } } } },
    ]);
    await admin.undo();
    expect((await admin.get(`${url}/${fresh}`)).body).toMatchObject({ decision: 'new', reviewed_by: null });

    const deleted = await admin.delete(`${url}/bulk`, { ids });
    expect(deleted.body).toMatchObject({ updated: 2, skipped: [{ id: unknown }, { id: tracked }] });
    await admin.undo();
    expect((await admin.get(`${url}/${ended}`)).body.decision).toBe('verified');
  });
});

it('a verdict on AI is written on the card as a change by hand: scored, in an event, and undone', async () => {
  const card_id = await card();
  const id = await finding({ card_id });
  const quality = (await admin.get(`/api/v1/cards/${card_id}`)).body.data_quality;
  const given = await admin.post(`${url}/${id}/ai-verdict`, { verdict: 'confirm' });
  expect(given.body.card_has_ai_features).toBe(true);
  const confirmed = (await admin.get(`/api/v1/cards/${card_id}`)).body;
  expect(confirmed.attributes.hasAiFeatures).toBe(true);
  expect(confirmed.data_quality).toBeGreaterThan(quality);
  expect((await admin.post(`${url}/${id}/ai-verdict`, { verdict: 'deny' })).body.card_has_ai_features).toBe(
    false,
  );
  await admin.undo();
});

it('a verdict on AI is refused for a finding without such a card', async () => {
  for (const id of [await finding(), await finding({ card_id: await card({ type: 'Organization' }) })])
    await expectProblem(admin.post(`${url}/${id}/ai-verdict`, { verdict: 'deny' }), 409, 'wrong_state');
});
