import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { closeAfterAll, createTestApp, type TestClient } from '../../support/harness.ts';
import { merge } from '../cards/merge.fixture.ts';

const url = '/api/v1/compliance/findings';
const values = { regulation: 'gdpr', requirement: 'Keep a record.', status: 'partial', severity: 'low' };

const t = closeAfterAll(await createTestApp());
const [admin, viewer] = await t.clients('admin', 'viewer');

async function card(more: Record<string, unknown> = {}): Promise<string> {
  const made = await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID(), ...more });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
async function finding(more: Record<string, unknown> = {}): Promise<string> {
  const made = await admin.post(url, { ...values, ...more });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}
/** A finding as a scan leaves it. */
async function stored(more: Record<string, unknown>): Promise<string> {
  const [row] = await t.services
    .db('compliance_findings')
    .insert({ ...values, rule_key: 'test.rule', run_id: randomUUID(), ...more })
    .returning('id');
  return row.id;
}
const now = async (): Promise<string> => (await admin.get('/api/v1/changes?after=now')).body.next;
const told = async (since: string, client = admin) =>
  (await client.get(`/api/v1/changes?after=${since}`)).body.items.filter(({ event_type }: never) =>
    String(event_type).startsWith('compliance_finding.'),
  );
const refusal = async (asked: ReturnType<TestClient['get']>) => {
  const { status, body } = await asked;
  return [status, body.code, ...(body.errors ?? []).map(({ field }: { field: string }) => field)];
};
/** Rolls back the last request that wrote. */
async function undoLast(): Promise<void> {
  const { batch_id } = await t.services.db('events').orderBy('position', 'desc').first('batch_id');
  const answer = await admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false });
  expect(answer.status, answer.text).toBe(200);
}

describe('a finding', () => {
  it('is written, read, listed, changed and deleted, with an event in its card’s history for each', async () => {
    const card_id = await card({ name: 'Payroll' });
    const since = await now();
    const made = await admin.post(url, { ...values, card_id, category: 'records', evidence: 'Seen.' });
    expect(made.status).toBe(201);
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
    expect((await admin.delete(`${url}/${id}`)).status).toBe(204);
    const events = await told(since, viewer);
    expect(events).toMatchObject([
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
    expect(history.map(({ event_type }: { event_type: string }) => event_type)).toContain(
      'compliance_finding.updated',
    );
  });

  it('is refused where it does not fit', async () => {
    const id = await finding();
    const unknown = randomUUID();
    expect(await refusal(admin.post(url, { ...values, regulation: 'hipaa' }))).toEqual([
      422,
      'validation_failed',
      'regulation',
    ]);
    expect(await refusal(admin.post(url, { ...values, card_id: unknown, requirement: ' ' }))).toEqual([
      422,
      'validation_failed',
      'requirement',
      'card_id',
    ]);
    expect(await refusal(admin.post(url, { ...values, status: 'fine' }))).toContain('validation_failed');
    expect(await refusal(admin.patch(`${url}/${id}/details`, {}, { 'if-match': '"old"' }))).toEqual([
      412,
      'precondition_failed',
    ]);
    for (const act of [
      admin.get(`${url}/${unknown}`),
      admin.patch(`${url}/${unknown}`, { decision: 'in_review' }),
      admin.patch(`${url}/${unknown}/details`, {}),
      admin.post(`${url}/${unknown}/ai-verdict`, { verdict: 'deny' }),
      admin.delete(`${url}/${unknown}`),
      admin.get(`/api/v1/cards/${unknown}/compliance-findings`),
    ]) {
      expect(await refusal(act)).toEqual([404, 'not_found']);
    }
    expect((await admin.get(`${url}/7`)).status).toBe(422);
    const ruled = await stored({});
    expect(await refusal(admin.patch(`${url}/${ruled}/details`, { card_id: await card() }))).toEqual([
      409,
      'wrong_state',
    ]);
  });

  it('is filtered, sorted and walked through like any list', async () => {
    const card_id = await card();
    const ids = [
      await finding({ card_id, severity: 'medium', category: 'x' }),
      await finding({ card_id, severity: 'critical', status: 'non_compliant' }),
      await stored({ card_id, severity: 'info', auto_resolved: true }),
    ];
    const found = async (query: string) =>
      (await viewer.get(`${url}?card_id=${card_id}&${query}`)).body.items.map(({ id }: { id: string }) => id);
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
    expect((await admin.post(`/api/v1/cards/${card_id}/archive`)).status).toBe(200);
    expect(await found('')).toEqual([]);
    expect((await viewer.get(`${of}?include_auto_resolved=true`)).body.total).toBe(3);
  });

  it('shows with its card alone, and to nobody who may not read compliance', async () => {
    const since = await now();
    const hidden = await card({ type: 'Platform' });
    const id = await finding({ card_id: hidden });
    const hide = async (is_hidden: boolean) => {
      await t.services.db('card_types').where({ key: 'Platform' }).update({ is_hidden });
      await t.services.db.raw(`select raise_topics(array['metamodel'])`);
    };
    await hide(true);
    expect(await refusal(admin.get(`${url}/${id}`))).toEqual([404, 'not_found']);
    expect(await refusal(admin.delete(`${url}/${id}`))).toEqual([404, 'not_found']);
    expect((await admin.get(`${url}?card_id=${hidden}`)).body.items).toEqual([]);
    await hide(false);

    await t.services
      .db('roles')
      .insert({ key: 'reader', label: 'R', permissions: '{"inventory.view":true}' });
    const reader = await t.as('reader');
    expect(await told(since, reader)).toEqual([]);
    expect(await told(since, viewer)).not.toEqual([]);
    expect(await refusal(reader.get(url))).toEqual([403, 'forbidden']);
    const half = '{"inventory.view":true,"compliance.view":true,"compliance.manage":true}';
    await t.services.db('roles').insert({ key: 'half', label: 'H', permissions: half });
    const other = await t.as('half');
    expect(await told(since, other)).toEqual([]);
    expect((await other.get(url)).body.permission).toBe('grc.view');
    expect((await other.delete(`${url}/${id}`)).body.permission).toBe('grc.manage');
  });

  it('goes with its card, and moves with a merge, and comes back with either', async () => {
    const gone = await card();
    const id = await finding({ card_id: gone });
    const deleted = await admin.delete(`/api/v1/cards/${gone}`);
    expect(deleted.status, deleted.text).toBe(200);
    expect((await admin.get(`${url}/${id}`)).status).toBe(404);
    await undoLast();
    expect((await admin.get(`${url}/${id}`)).body.card_id).toBe(gone);

    const survivor = await card();
    const merged = await merge(admin, survivor, [gone]);
    expect(merged.status, merged.text).toBe(200);
    expect((await admin.get(`${url}/${id}`)).body.card_id).toBe(survivor);
  });
});

describe('a decision', () => {
  it('is kept with who and when, and refused with what is allowed instead', async () => {
    const id = await finding();
    const refused = await admin.patch(`${url}/${id}`, { decision: 'verified' });
    expect(refused.body).toMatchObject({
      code: 'wrong_state',
      decision: 'new',
      allowed: ['in_review', 'accepted', 'not_applicable'],
    });
    const decided = await admin.patch(`${url}/${id}`, { decision: 'accepted', review_note: 'Seen.' });
    expect(decided.body).toMatchObject({
      decision: 'accepted',
      reviewed_by: admin.userId,
      review_note: 'Seen.',
    });
    expect(decided.body.reviewed_at).not.toBeNull();
    const kept = (await admin.get(`/api/v1/accounts/${admin.userId}/personal-data`)).body;
    expect(kept.compliance_reviews.map((review: { id: string }) => review.id)).toContain(id);
  });

  it('to accept needs a note', async () => {
    const id = await finding();
    expect(await refusal(admin.patch(`${url}/${id}`, { decision: 'accepted', review_note: ' ' }))).toEqual([
      422,
      'validation_failed',
      'review_note',
    ]);
    expect(await refusal(admin.patch(`${url}/bulk`, { ids: [id], decision: 'accepted' }))).toEqual([
      422,
      'validation_failed',
      'review_note',
    ]);
  });

  it('is taken for many at once, which says which were skipped and why, and is undone as one', async () => {
    const [fresh, ended, tracked] = [
      await finding(),
      await stored({ decision: 'verified' }),
      await stored({ decision: 'risk_tracked' }),
    ];
    const unknown = randomUUID();
    const since = await now();
    const ids = [fresh, ended, unknown, fresh.toUpperCase(), tracked];
    const decided = await admin.patch(`${url}/bulk`, { ids, decision: 'not_applicable' });
    expect(decided.body.updated).toBe(1);
    expect(decided.body.skipped.map(({ id, code }: Record<string, string>) => [id, code])).toEqual([
      [unknown, 'not_found'],
      [ended, 'wrong_state'],
      [tracked, 'wrong_state'],
    ]);
    expect(await told(since)).toMatchObject([
      { data: { id: fresh, changes: { decision: { old: 'new', new: 'not_applicable' } } } },
    ]);
    await undoLast();
    expect((await admin.get(`${url}/${fresh}`)).body).toMatchObject({ decision: 'new', reviewed_by: null });

    const deleted = await admin.delete(`${url}/bulk`, { ids });
    expect(deleted.body).toMatchObject({ updated: 2, skipped: [{ id: unknown }, { id: tracked }] });
    await undoLast();
    expect((await admin.get(`${url}/${ended}`)).body.decision).toBe('verified');
  });
});

describe('a verdict on AI', () => {
  it('is written on the card as a change by hand: scored, told, and undone', async () => {
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
    await undoLast();
  });

  it('is refused for a finding without such a card', async () => {
    const landscape = await finding();
    const of = await finding({ card_id: await card({ type: 'Organization' }) });
    for (const id of [landscape, of]) {
      expect(await refusal(admin.post(`${url}/${id}/ai-verdict`, { verdict: 'deny' }))).toEqual([
        409,
        'wrong_state',
      ]);
    }
  });
});
