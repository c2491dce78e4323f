import { startAnalysis } from '../../../domain/analysis/runs/runs.ts';
import { analysisPayload } from '../../../domain/analysis/runs/runs.types.ts';
import { scores } from '../../../domain/governance/compliance/compliance.model.ts';
import { defineJob } from '../../../domain/kernel/jobs/jobs.define.ts';
import { analysisProcessors } from '../../../workers/analysis/analysis.processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, openApp, pluck } from '../../support/harness.ts';
import { jobRow, untilStatus } from '../../support/jobs.ts';
import { merge } from '../cards/merge.fixture.ts';

const url = '/api/v1/compliance';

const { t, db } = await openApp();
closeAfterAll(await startWorkers(t.services, analysisProcessors));
const [admin, viewer] = await t.clients('admin', 'viewer');

const card = async (more: Record<string, unknown> = {}): Promise<string> => (await admin.card(more)).id;
/** Carries out a scan. @returns its run, as the overview tells it. */
async function scan(...regulations: string[]) {
  const started = await admin.post(`${url}/scans`, regulations.length > 0 ? { regulations } : undefined);
  expect(started.status, started.text).toBe(202);
  expect(started.headers.location).toBe(started.body.links.job);
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  const run = (await viewer.get(`${url}/overview`)).body.compliance_run;
  expect(run).toMatchObject({ run_id: started.body.run_id, status: 'completed', error: null });
  return { ...run, job_id: started.body.job_id };
}
type Found = { id: string; [member: string]: unknown };
const findings = async (query: string): Promise<Found[]> =>
  (await viewer.get(`${url}/findings?page_size=200&${query}`)).body.items;
const article = (items: Found[], wanted: string): Found =>
  items.find(({ regulation_article }) => regulation_article === wanted)!;

describe('a scan', () => {
  it('finds what the inventory lacks, with evidence, and what it keeps', async () => {
    const app = await card({
      name: 'Payments',
      attributes: { businessCriticality: 'missionCritical', hostingType: 'cloudSaaS' },
    });
    const old = await card({ type: 'ITComponent', lifecycle: { endOfLife: '2020-01-31' } });
    await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: app, target_id: old });
    const run = await scan('nis2');
    const found = await findings(`card_id=${app}`);
    const articles = found.map(({ regulation_article }) => regulation_article).sort();
    expect(articles).toEqual(['Art. 20(1)', 'Art. 21(2)(d)', 'Art. 21(2)(e)', 'Art. 21(2)(i)']);
    expect(article(found, 'Art. 21(2)(e)')).toMatchObject({
      run_id: run.run_id,
      last_seen_run_id: run.run_id,
      regulation: 'nis2',
      card_name: 'Payments',
      scope_type: 'card',
      status: 'non_compliant',
      severity: 'critical',
      evidence: 'businessCriticality: missionCritical; IT components past their end of life: 1',
      decision: 'new',
      ai_detected: false,
    });
    // that it is told how critical every application is holds for all of them
    const finding = article(await findings('regulation=nis2&scope_type=landscape'), 'Art. 21(2)(a)');
    expect(finding).toMatchObject({ status: 'compliant', card_id: null, evidence: 'cards: 1; gaps: 0' });
    expect(run.summary).toMatchObject({
      regulations: { nis2: { rules: 9, skipped: [], gaps: 4, found: 6, resolved: 0, unchanged: 0 } },
      without_rules: [],
    });
    expect((await jobRow(t.services, run.job_id)).counts).toMatchObject({ gaps: 4, found: 6 });
  });

  it('carries findings over: with decisions while it sees them, resolved when not, and standing again', async () => {
    const app = await card({ attributes: { businessCriticality: 'businessCritical' } });
    const first = await scan('soc2');
    const before = await findings(`regulation=soc2&card_id=${app}`);
    const owner = article(before, 'CC1.3');
    const place = article(before, 'CC6.1');
    const decide = async (id: string, decision: string) =>
      await admin.patch(`${url}/findings/${id}`, { decision, review_note: 'Known.' });
    for (const decision of ['in_review', 'mitigated']) await decide(owner.id, decision);
    await decide(place.id, 'accepted');
    await admin.patch(`${url}/findings/${place.id}/details`, { severity: 'info' });

    // nothing new: nothing is written
    const second = await scan('soc2');
    expect(second.summary.regulations.soc2).toMatchObject({ found: 0, changed: 0, resolved: 0, reopened: 0 });
    const events = await db('events').where({ job_id: second.job_id }).pluck('event_type');
    expect(events.filter((type: string) => type.startsWith('compliance_finding.'))).toEqual([]);
    expect(article(await findings(`regulation=soc2&card_id=${app}`), 'CC6.1')).toMatchObject({
      id: place.id,
      decision: 'accepted',
      review_note: 'Known.',
      severity: 'info',
      run_id: first.run_id,
      last_seen_run_id: second.run_id,
    });

    const held = { user_id: viewer.userId, role: 'responsible' };
    const holder = await admin.post(`/api/v1/cards/${app}/stakeholders`, held);
    expect((await scan('soc2')).summary.regulations.soc2.resolved).toBeGreaterThan(0);
    expect(await findings(`regulation=soc2&card_id=${app}&decision=mitigated`)).toEqual([]);
    expect((await viewer.get(`${url}/findings/${owner.id}`)).body).toMatchObject({
      auto_resolved: true,
      decision: 'mitigated',
      last_seen_run_id: second.run_id,
    });

    expect((await admin.delete(`/api/v1/stakeholders/${holder.body.id}`)).status).toBeLessThan(300);
    const fourth = await scan('soc2');
    expect(fourth.summary.regulations.soc2.reopened).toBeGreaterThan(0);
    expect((await viewer.get(`${url}/findings/${owner.id}`)).body).toMatchObject({
      auto_resolved: false,
      // somebody had said that it was gone
      decision: 'in_review',
      review_note: 'Known.',
      last_seen_run_id: fourth.run_id,
    });

    // cards that are archived are looked at no more
    await admin.post(`/api/v1/cards/${app}/archive`);
    await scan('soc2');
    expect((await viewer.get(`${url}/findings/${owner.id}`)).body.auto_resolved).toBe(true);
  });

  it('suspects AI where a card does not say that it uses it, until somebody does', async () => {
    const app = await card({ description: 'Answers customers by a large language model.' });
    await scan('eu_ai_act');
    const [suspected] = await findings(`card_id=${app}&ai_detected=true`);
    expect(suspected).toMatchObject({
      status: 'review_needed',
      regulation_article: 'Art. 3(1)',
      evidence: 'subtype: not set; hasAiFeatures: not set; AI models among its components: 0',
    });
    await admin.post(`${url}/findings/${suspected!.id}/ai-verdict`, { verdict: 'confirm' });
    await scan('eu_ai_act');
    expect(await findings(`card_id=${app}&ai_detected=true`)).toEqual([]);
    const finding = article(await findings(`card_id=${app}&regulation=eu_ai_act`), 'Art. 26(2)');
    expect(finding).toMatchObject({ severity: 'high', card_has_ai_features: true });
  });

  it('carries on one of two findings that a merge has left on a card, the one that was decided about', async () => {
    const [survivor, merged] = [await card(), await card()];
    const of = (id: string) => `regulation=soc2&search=run&include_auto_resolved=true&card_id=${id}`;
    await scan('soc2');
    const before = [...(await findings(of(survivor))), ...(await findings(of(merged)))];
    expect(before).toHaveLength(2);
    const decided = before.find(({ card_id }) => card_id === merged)!;
    await admin.patch(`${url}/findings/${decided.id}`, { decision: 'in_review' });
    await merge(admin, survivor, [merged]);
    await scan('soc2');
    expect((await findings(of(survivor))).map(({ id, auto_resolved }) => [id, auto_resolved]).sort()).toEqual(
      before.map(({ id }) => [id, id !== decided.id]).sort(),
    );
  });

  it('is undone as a whole', async () => {
    const app = await card({ type: 'BusinessProcess' });
    const { job_id } = await scan('soc2');
    expect(await findings(`card_id=${app}`)).toHaveLength(1);
    const { batch_id } = await db('events')
      .where({ job_id, event_type: 'compliance_finding.created' })
      .first('batch_id');
    await admin.undo(batch_id);
    expect(await findings(`card_id=${app}`)).toEqual([]);
  });

  it('looks at what is enabled, and says where there are no rules, or where they do not fit', async () => {
    const own = { key: 'house_rules', label: 'House rules', sort_order: 99 };
    await admin.create('/api/v1/metamodel/compliance-regulations', own);
    await db('compliance_regulations').where({ key: 'dora' }).update({ is_enabled: false });
    await db('card_types').where({ key: 'Provider' }).update({ is_hidden: true });
    await db.raw(`select raise_topics(array['metamodel'])`);
    const { summary } = await scan();
    const keys = Object.keys(summary.regulations).sort();
    expect(keys).toEqual(['eu_ai_act', 'gdpr', 'iso27001', 'nis2', 'soc2']);
    expect(summary.without_rules).toEqual(['house_rules']);
    expect(summary.regulations.iso27001.skipped).toEqual([
      { rule: 'supplier-known', reason: '"relProviderToApp" is no known relation type' },
      { rule: 'supplier-agreement', reason: '"contractEnd" is no known attribute' },
    ]);
    await db('card_types').where({ key: 'Provider' }).update({ is_hidden: false });
    await db.raw(`select raise_topics(array['metamodel'])`);
  });

  it('is refused where it does not fit, and while another is under way', async () => {
    const refused = await admin.post(`${url}/scans`, { regulations: ['gdpr', 'hipaa'] });
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'regulations.1' }] } });
    await expectProblem(admin.post(`${url}/scans`, { regulations: [] }), 422);
    expect((await viewer.get(`${url}/active-runs`)).body).toEqual({ compliance: null });
    const unheard = defineJob({
      kind: 'unheard',
      queue: 'bulk',
      payload: analysisPayload,
      attempts: 1,
      resumable: true,
    });
    const other = await startAnalysis(await t.ctx(), { type: 'compliance', job: unheard });
    await expectProblem(admin.post(`${url}/scans`), 409, 'wrong_state', { run_id: other.run_id });
    const { compliance } = (await viewer.get(`${url}/active-runs`)).body;
    expect(compliance).toMatchObject({ run_id: other.run_id, status: 'running', progress: { fraction: 0 } });
    await db('jobs').where({ id: other.job_id }).update({ status: 'cancelled' });
    expect((await viewer.get(`${url}/active-runs`)).body).toEqual({ compliance: null });
    await db('compliance_regulations').update({ is_enabled: false });
    await expectProblem(admin.post(`${url}/scans`), 409, 'wrong_state');
    await db('compliance_regulations').update({ is_enabled: true });
  });
});

describe('how the landscape stands', () => {
  it('is the mean over the findings that stand, in the overview and in the bundles', async () => {
    const { compliance_scores, compliance_by_status } = (await viewer.get(`${url}/overview`)).body;
    const { items } = (await viewer.get(`${url}/bundles`)).body;
    const seen = items.filter(({ findings_total }: { findings_total: number }) => findings_total > 0);
    expect(Object.keys(compliance_scores).sort()).toEqual(pluck(seen, 'regulation').sort());
    for (const { regulation, score, findings: listed, findings_total } of seen) {
      expect(listed).toHaveLength(findings_total);
      const points = listed.map(({ status }: { status: keyof typeof scores }) => scores[status]);
      const mean = Math.round(points.reduce((sum: number, n: number) => sum + n, 0) / points.length);
      expect([regulation, score, compliance_scores[regulation]]).toEqual([regulation, mean, mean]);
      const counts = compliance_by_status[regulation] as Record<string, number>;
      expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(findings_total);
    }
    const dora = items.find(({ regulation }: { regulation: string }) => regulation === 'dora');
    expect(dora).toMatchObject({ label: 'DORA (Regulation (EU) 2022/2554)', is_known: true });
  });

  it('is bundled as asked, with the regulations that are no more', async () => {
    await db('compliance_findings').insert({
      regulation: 'gone',
      requirement: 'R',
      status: 'partial',
      severity: 'low',
    });
    expect((await viewer.get(`${url}/bundles?regulation=gone`)).body.items).toMatchObject([
      { regulation: 'gone', label: null, is_enabled: false, is_known: false, score: 50, findings_total: 1 },
    ]);
    const other = (await viewer.get(`${url}/bundles?regulation=gone&status=compliant`)).body.items;
    expect(other).toMatchObject([{ score: 50, findings_total: 0, findings: [] }]);
    const page = await viewer.get(`${url}/bundles?page_size=2&cursor=&fields=regulation`);
    expect(page.body.items).toEqual([{ regulation: 'eu_ai_act' }, { regulation: 'gdpr' }]);
    expect(page.body.next_cursor).not.toBeNull();
  });
});
