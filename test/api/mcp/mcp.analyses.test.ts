import type { AddressInfo } from 'node:net';
import { closeAfterAll, openApp } from '../../support/harness.ts';
import { answer, connectMcp, refusal } from '../../support/mcp.ts';

const { t, db, admin } = await openApp(['admin']);
await t.app.listen({ host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${(t.app.server.address() as AddressInfo).port}`;
await admin.patch('/api/v1/settings/mcp', { enabled: true });
const asAdmin = closeAfterAll(await connectMcp(url, admin));
const asViewer = closeAfterAll(await connectMcp(url, await t.as('viewer')));
const card: string = (await admin.post('/api/v1/cards', { type: 'Application', name: 'Claims Desk' })).body
  .id;

afterAll(() => t.app.close());

it('duplicates are listed as the last analysis found them, for those who may see analyses', async () => {
  const { id } = (await admin.post('/api/v1/cards', { type: 'Application', name: 'Desk of Claims' })).body;
  const scores = { cohesion: 0.9, least_score: 0.9, most_score: 0.9 };
  const found = { card_type: 'Application', card_ids: [card, id], run_id: card, found_at: new Date() };
  await db('duplicate_clusters').insert({ id: card, ...scores, ...found });
  const { items } = await answer(asAdmin, 'find_duplicates', { card_id: id });
  expect(items).toMatchObject([{ id: card, card_type: 'Application', status: 'pending', cohesion: 0.9 }]);
  expect(items[0].evidence).toBe(
    '2 cards; pairs of them represent the same object with 90 %, all together with 90 %',
  );
  expect(await refusal(asViewer, 'find_duplicates')).toMatchObject({ permission: 'ai_analysis.view' });
  expect((await answer(asAdmin, 'read_duplicates', { id: card })).cluster.cards).toHaveLength(2);
  expect(await refusal(asAdmin, 'read_duplicates', { id })).toMatchObject({ code: 'not_found' });
});

it('duplicates are decided about and merged: tried first, then in batches that can be undone', async () => {
  const { items } = await answer(asAdmin, 'find_duplicates', { card_id: card });
  const { id } = items[0];
  const statusNow = async () => (await answer(asAdmin, 'read_duplicates', { id })).cluster.status;
  const tried = await answer(asAdmin, 'decide_duplicates', { id, status: 'dismissed' });
  expect(tried).toMatchObject({ dry_run: true, batch_id: null, result: { status: 'dismissed' } });
  expect(await statusNow()).toBe('pending');
  const decided = await answer(asAdmin, 'decide_duplicates', { id, status: 'investigating', dry_run: false });
  expect(await statusNow()).toBe('investigating');
  expect(await answer(asAdmin, 'undo_batch', { batch_id: decided.batch_id, dry_run: false })).toBeDefined();
  expect(await statusNow()).toBe('pending');
  const other = items[0].card_ids.find((one: string) => one !== card);
  const into = { id, survivor_id: card };
  const preview = await answer(asAdmin, 'merge_duplicates', into);
  expect(preview).toMatchObject({ dry_run: true, batch_id: null, result: { survivor: { id: card } } });
  expect((await admin.get(`/api/v1/cards/${other}`)).body.id).toBe(other);
  const merged = await answer(asAdmin, 'merge_duplicates', { ...into, dry_run: false });
  expect(
    (await admin.get(`/api/v1/cards?filter=${encodeURIComponent('name = "Desk of Claims"')}`)).body.total,
  ).toBe(0);
  await answer(asAdmin, 'undo_batch', { batch_id: merged.batch_id, dry_run: false });
  expect((await admin.get(`/api/v1/cards/${other}`)).body).toMatchObject({ id: other, status: 'ACTIVE' });
  for (const [name, more] of [
    ['decide_duplicates', { status: 'confirmed' }],
    ['merge_duplicates', {}],
  ] as const) {
    const refused = await refusal(asViewer, name, { id, ...more, dry_run: false });
    expect(refused, name).toMatchObject({ permission: 'ai_analysis.manage' });
  }
});

describe('refusals', () => {
  it('are told to the model in words of the tools, with what it may do', async () => {
    const hints: [string, Record<string, unknown>, RegExp][] = [
      ['create_card', { type: 'Nope', name: 'X' }, /describe_metamodel/],
      [
        'create_card',
        { type: 'Application', name: 'X', attributes: { timeModel: 'never' } },
        /describe_metamodel/,
      ],
      ['search_cards', { filter: "name = 'x'" }, /double quotes/],
      ['search_cards', { cursor: '', filter: 'colour = red' }, /describe_metamodel/],
      ['read_card', { id: '00000000-0000-4000-8000-000000000000' }, /look it up/],
      ['ask_inventory', { question: 'what is the meaning of life' }, /query_inventory/],
      ['undo_batch', { batch_id: await openBatch() }, /close_batch/],
    ];
    for (const [tool, args, hint] of hints) {
      const refused = await refusal(asAdmin, tool, args);
      expect(refused.hint, `${tool}: ${JSON.stringify(refused)}`).toMatch(hint);
    }
    expect((await refusal(asViewer, 'create_card', { type: 'Application', name: 'X' })).hint).toMatch(
      /token/,
    );
    expect((await refusal(asAdmin, 'decide_duplicates', { id: card, status: 'sure' })).errors).toEqual([
      { field: 'status', code: 'enum', message: expect.stringContaining('"investigating"') },
    ]);
    const wide = { report: 'dashboard', parameters: { filter: ['a'] } };
    expect((await refusal(asAdmin, 'run_report', wide)).errors).toHaveLength(1);
  });

  it('are tool errors where an argument holds what no text may, too', async () => {
    for (const search of ['a\0b', 'a\ud800']) {
      const refused = await refusal(asAdmin, 'search_cards', { search });
      expect(refused.errors).toMatchObject([{ field: 'search', code: 'bad_text' }]);
    }
  });

  const openBatch = async () => (await answer(asAdmin, 'open_batch', { title: 'Open' })).batch_id;
});

it('long lists stay within what one answer holds, and say what was cut', async () => {
  await db.raw(`insert into cards (type, name, description)
       select 'Organization', 'Unit ' || n, repeat('wordy ', 600) from generate_series(1, 120) n`);
  const found = await answer(asViewer, 'search_cards', { type: 'Organization', page_size: 100 });
  expect(found.items).toHaveLength(100);
  expect(found.truncations[0]).toEqual({ path: 'items[0].description', shown: 1_000, of: 3_600 });
  expect(JSON.stringify(found).length).toBeLessThan(200_000);
  await db('cards').where({ type: 'Organization' }).delete();
});

it('relations are removed: tried first, then in a batch that brings them back', async () => {
  const { body: component } = await admin.post('/api/v1/cards', { type: 'ITComponent', name: 'Rack 1' });
  const ends = { source_id: card, target_id: component.id };
  const made = await answer(asAdmin, 'relate_cards', { type: 'relAppToITC', ...ends, dry_run: false });
  const { id } = made.result;
  const related = async () =>
    (await answer(asAdmin, 'list_relations', { card_id: component.id })).items.length;
  expect(await answer(asAdmin, 'unrelate_cards', { id })).toMatchObject({ dry_run: true, result: {} });
  expect(await related()).toBe(1);
  const gone = await answer(asAdmin, 'unrelate_cards', { id, dry_run: false });
  expect(await related()).toBe(0);
  await answer(asAdmin, 'undo_batch', { batch_id: gone.batch_id, dry_run: false });
  expect(await related()).toBe(1);
  expect(await refusal(asViewer, 'unrelate_cards', { id })).toMatchObject({ permission: 'relations.manage' });
});

describe('analyses', () => {
  const count = async () => Number((await db('analysis_runs').count().first())!.count);

  it('are tried, started, followed and cancelled', async () => {
    const before = await count();
    const started = await answer(asAdmin, 'start_analysis', { analysis: 'duplicates' });
    expect(started).toEqual({ dry_run: true, run_id: null, job_id: null, truncations: [] });
    expect(await count()).toBe(before);
    for (const [analysis, options] of [
      ['duplicates', { card_types: ['Application'], mode: 'learn' }],
      ['vendors', undefined],
      ['vendor_hierarchy', undefined],
      ['modernizations', { target_type: 'Application' }],
      ['compliance', { regulations: ['gdpr'] }],
    ] as const) {
      const asked = { analysis, dry_run: false, ...(options ? { options } : {}) };
      const { run_id, job_id } = await answer(asAdmin, 'start_analysis', asked);
      expect((await answer(asAdmin, 'read_job', { id: job_id })).job.status).toBe('queued');
      const { run } = await answer(asAdmin, 'read_analysis_run', { id: run_id });
      expect(run).toMatchObject({ analysis_type: analysis, status: 'running', job_id });
      expect(await refusal(asAdmin, 'start_analysis', asked)).toMatchObject({ code: 'wrong_state', run_id });
      const { items } = await answer(asAdmin, 'list_analysis_runs', { analysis_type: analysis });
      expect(items).toMatchObject([{ id: run_id }]);
      expect((await answer(asAdmin, 'cancel_analysis_run', { id: run_id })).run.status).toBe('cancelled');
    }
  });

  it('tell what they found, page by page, by the filters of their operations', async () => {
    const supplier = async (name: string) => {
      const placed = { category: 'Software', sub_category: 'Databases', categorised_at: new Date() };
      const row = { canonical_name: name, vendor_type: 'vendor', group_name: name, confidence: 1, ...placed };
      const [{ id }] = await db('suppliers').insert(row).returning('id');
      await db('supplier_cards').insert({ supplier_id: id, card_id: card, role: 'supplied', shared_by: 2 });
    };
    await supplier('Brimtak');
    await supplier('Nordwind');
    const asked = { analysis: 'vendors', filters: { sort_by: 'vendor_name', sort_dir: 'asc' }, page_size: 1 };
    const first = await answer(asAdmin, 'list_analysis_results', asked);
    const { items, next_cursor } = await answer(asAdmin, 'list_analysis_results', {
      ...asked,
      cursor: first.next_cursor,
    });
    expect([...first.items, ...items]).toMatchObject([
      { vendor_name: 'Brimtak' },
      { vendor_name: 'Nordwind' },
    ]);
    expect(next_cursor).toBeNull();
    for (const analysis of ['vendor_hierarchy', 'modernizations', 'compliance'])
      expect(await answer(asAdmin, 'list_analysis_results', { analysis })).toMatchObject({
        next_cursor: null,
      });
    expect((await answer(asAdmin, 'read_concentration')).concentration).toBeDefined();
    const strange = { analysis: 'compliance', filters: { colour: 'red' } };
    expect(await refusal(asAdmin, 'list_analysis_results', strange)).toMatchObject({
      code: 'validation_failed',
      errors: [{ field: 'colour' }],
    });
    const hidden = { permission: 'ai_analysis.view' };
    expect(await refusal(asViewer, 'list_analysis_results', { analysis: 'vendors' })).toMatchObject(hidden);
    expect(await refusal(asViewer, 'read_concentration')).toMatchObject(hidden);
  });

  it('have results that are decided about', async () => {
    const proposed = { modernization_type: 'retire', current_tech: 'Old', recommendation: 'Retire it' };
    const scores = { effort: 'low', score: 50, score_without_costs: 50, reasons: '[]', dependants: 0 };
    const found = { run_id: card, is_current: true, target_type: 'Application', card_id: card };
    await db('modernizations').insert({ ...found, ...proposed, ...scores });
    const { body: finding } = await admin.post('/api/v1/compliance/findings', {
      regulation: 'gdpr',
      requirement: 'A record is kept',
      status: 'partial',
      severity: 'low',
    });
    const [candidate] = (await answer(asAdmin, 'list_analysis_results', { analysis: 'modernizations' }))
      .items;
    const decided = { id: candidate.id, status: 'accepted' };
    expect(await answer(asAdmin, 'decide_modernization', decided)).toMatchObject({
      dry_run: true,
      result: { status: 'accepted' },
    });
    await answer(asAdmin, 'decide_modernization', { ...decided, dry_run: false });
    const accepted = { analysis: 'modernizations', filters: { status: 'accepted' } };
    expect((await answer(asAdmin, 'list_analysis_results', accepted)).items).toMatchObject([
      { id: candidate.id },
    ]);
    const { id } = finding;
    expect(await refusal(asAdmin, 'decide_finding', { id, decision: 'verified' })).toMatchObject({
      code: 'wrong_state',
      allowed: ['in_review', 'accepted', 'not_applicable'],
    });
    const reviewed = { id, decision: 'in_review', review_note: 'Asked', dry_run: false };
    expect((await answer(asAdmin, 'decide_finding', reviewed)).result).toMatchObject({
      decision: 'in_review',
    });
    for (const [tool, args] of [
      ['decide_modernization', decided],
      ['decide_finding', { id, decision: 'in_review' }],
    ] as const)
      expect(await refusal(asViewer, tool, args), tool).toMatchObject({ status: 403 });
  });

  it('are refused as their operations refuse them', async () => {
    expect(
      await refusal(asAdmin, 'start_analysis', { analysis: 'duplicates', options: { mode: 'quickly' } }),
    ).toMatchObject({ code: 'validation_failed' });
    expect(await refusal(asAdmin, 'start_analysis', { analysis: 'portfolio_insights' })).toMatchObject({
      code: 'validation_failed',
    });
    for (const dry_run of [true, false]) {
      const refused = await refusal(asViewer, 'start_analysis', { analysis: 'vendors', dry_run });
      expect(refused).toMatchObject({ status: 403 });
    }
    const refused = await refusal(asViewer, 'cancel_analysis_run', { id: card });
    expect(refused).toMatchObject({ permission: 'ai_analysis.manage' });
  });
});
