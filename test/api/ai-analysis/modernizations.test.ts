import { analysisProcessors } from '../../../workers/analysis/analysis.processors.ts';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { analyse, endOfRun } from '../../support/analysis.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const root = '/api/v1/ai-analysis';

let workers: Workers;

const id = new Map<string, string>();

const day = (months: number): string => {
  const date = new Date();
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString().slice(0, 10);
};

async function card(type: string, name: string, more: object = {}): Promise<void> {
  id.set(name, (await admin.card({ type, name, ...more })).id);
}

async function relate(type: string, source: string, target: string): Promise<void> {
  await admin.relate(type, id.get(source)!, id.get(target)!);
}

const { t, db, sql, viewer } = await openApp(['viewer']);
workers = await startWorkers(t.services, analysisProcessors);
const [admin, member] = await t.clients('admin', 'member');
await card('Application', 'Old Claims', {
  lifecycle: { active: '2010-01-01', endOfLife: day(-2) },
  attributes: {
    technicalSuitability: 'inappropriate',
    functionalSuitability: 'insufficient',
    businessCriticality: 'missionCritical',
    timeModel: 'migrate',
    costTotalAnnual: 900,
  },
});
await card('Application', 'Dear Wiki', {
  attributes: {
    timeModel: 'eliminate',
    costTotalAnnual: 5_000,
    businessCriticality: 'administrativeService',
  },
});
await card('Application', 'New Portal', {
  attributes: { costTotalAnnual: 10, technicalSuitability: 'fullyAppropriate' },
});
await card('Application', 'Stands On Old', { attributes: { hostingType: 'onPremise' } });
await card('ITComponent', 'Billing database', { attributes: { eol_product: 'python', eol_cycle: '3.7' } });
await card('BusinessProcess', 'Claims handling');
await card('Provider', 'Oakmere');
await relate('relAppToITC', 'Stands On Old', 'Billing database');
await relate('relProcessToApp', 'Claims handling', 'Old Claims');
await relate('relProviderToApp', 'Oakmere', 'Old Claims');

afterAll(() => workers.close(2_000));

async function run(body: object) {
  const ended = await analyse(admin, `${root}/modernizations/analyse`, body);
  expect(ended.status, ended.error_message).toBe('completed');
  return ended;
}

const decide = (candidate: string, status: string, headers: Record<string, string> = {}) =>
  admin.patch(`${root}/modernizations/${candidate}/status`, { status }, headers);

const listed = async (query = '', client = member) =>
  (await ok(client.get(`${root}/modernizations${query}`))).items;

it('ranks candidates with their reasons', async () => {
  const { results } = await run({});
  expect(results).toEqual({ cards: 4, candidates: 3, types: { migrate: 1, retire: 1, upgrade: 1 } });
  const items = await listed();
  expect(pluck(items, 'card_name')).toEqual(['Old Claims', 'Stands On Old', 'Dear Wiki']);
  // 30 lifecycle + 20 technical + 10 functional + 10 plans + 2 (one dependant) + 5 criticality, and costs over a third
  const [old, stands, wiki] = items;
  expect(old).toMatchObject({
    target_type: 'Application',
    modernization_type: 'migrate',
    effort: 'medium',
    priority: 'high',
    dependants: 1,
    status: 'pending',
    cluster_id: null,
  });
  const points = pluck(old.reasons, 'factor', 'points');
  expect(points.slice(0, 4)).toEqual([
    ['lifecycle', 30],
    ['technical_suitability', 20],
    ['functional_suitability', 10],
    ['plans', 10],
  ]);
  expect(Object.fromEntries(points)).toMatchObject({ dependants: 2, criticality: 5 });
  const sum = points.reduce((total: number, [, one]: [string, number]) => total + one, 0);
  expect(old.score).toBeCloseTo(sum, 1);
  expect(stands).toMatchObject({
    modernization_type: 'upgrade',
    score: 21,
    current_tech: 'Stands On Old, onPremise',
  });
  expect(stands.recommendation).toContain('Billing database');
  expect(wiki.reasons[0].reason).toBe('TIME model: eliminate');
});

it('judges other types, and only what is asked for', async () => {
  expect((await run({ target_type: 'ITComponent' })).results).toMatchObject({ cards: 1, candidates: 1 });
  const [found] = await listed('?target_type=ITComponent');
  expect(found).toMatchObject({ current_tech: 'Python 3.7', modernization_type: 'upgrade', dependants: 1 });
  expect(found.recommendation).toMatch(
    /^Upgrade Billing database to Python 3\.\d+: support of Python 3\.7 ended on/,
  );
  expect(await listed()).toHaveLength(4);
  expect((await run({ modernization_type: 'retire' })).results).toMatchObject({ candidates: 1 });
  expect(await listed('?target_type=Application&fields=card_name')).toEqual([{ card_name: 'Dear Wiki' }]);
  expect(await listed('?priority=high')).toEqual([]);
  expect(await listed('?search=python&fields=card_name')).toEqual([{ card_name: 'Billing database' }]);
});

it('keeps decisions, and tells nothing of costs to who may not see them', async () => {
  const count = async () => (await member.get(`${root}/overview`)).body.modernization_count;
  const all = await count();
  const ofWiki = `?card_id=${id.get('Dear Wiki')}`;
  const [found] = await listed(ofWiki);
  expect(found).toMatchObject({ status: 'pending', decided_by: null, decided_at: null });
  // nothing was decided yet, so that there is nothing to take back
  const events = () => db('events').whereLike('event_type', 'modernization_decision.%').count();
  const before = await events();
  expect(await decide(found.id, 'pending')).toMatchObject({ status: 200, body: found });
  expect(await events()).toEqual(before);
  expect(await decide(found.id, 'dismissed')).toMatchObject({
    status: 200,
    body: { ...found, status: 'dismissed', decided_by: admin.userId, decided_at: expect.any(String) },
  });
  expect(await count()).toBe(all - 1);
  await run({});
  expect(await listed(ofWiki)).toMatchObject([{ id: found.id, status: 'dismissed' }]);
  // a run that looks for something else forgets nothing of it
  await run({ modernization_type: 'upgrade' });
  expect(await listed(ofWiki)).toEqual([]);
  await run({});
  expect(await listed('?status=dismissed&fields=card_name')).toEqual([{ card_name: 'Dear Wiki' }]);
  const [wiki] = await listed(ofWiki);
  expect(pluck(wiki.reasons, 'factor')).toContain('cost');
  const analyst = await t.holding('inventory.view', 'relations.view', 'ai_analysis.view');
  const seen = await listed('?target_type=Application', analyst);
  const cut = seen.find(({ card_name }: { card_name: string }) => card_name === 'Dear Wiki');
  expect(pluck(cut.reasons, 'factor')).not.toContain('cost');
  expect(cut.score).toBeCloseTo((100 * 10) / 90, 1);
  expect(JSON.stringify(seen)).not.toContain('costs more');
});

it('tells of decisions in the history of the card, and takes them back', async () => {
  const [{ id: candidate }] = await listed(`?card_id=${id.get('Old Claims')}`);
  const status = async () => (await listed(`?card_id=${id.get('Old Claims')}`))[0].status;
  const accepted = await decide(candidate, 'accepted');
  expect((await decide(candidate, 'accepted')).body).toEqual(accepted.body);
  await decide(candidate, 'dismissed');
  await decide(candidate, 'pending');
  const told = (await admin.get(`/api/v1/cards/${id.get('Old Claims')}/history`)).body.items.filter(
    ({ event_type }: { event_type: string }) => event_type.startsWith('modernization_decision.'),
  );
  expect(told).toMatchObject([
    { event_type: 'modernization_decision.deleted', data: { changes: { status: { old: 'dismissed' } } } },
    { event_type: 'modernization_decision.updated', data: { changes: { status: { new: 'dismissed' } } } },
    {
      event_type: 'modernization_decision.created',
      data: { changes: { status: { old: null, new: 'accepted' }, modernization_type: { new: 'migrate' } } },
    },
  ]);
  const seen = await viewer.get(`/api/v1/cards/${id.get('Old Claims')}/history`);
  expect(seen.text).not.toContain('modernization_decision');
  const batch = (await admin.post('/api/v1/mutation-batches', { tool_name: 'decide', dry_run: false })).body
    .id;
  await decide(candidate, 'accepted', { 'x-mutation-batch': batch });
  await admin.post(`/api/v1/mutation-batches/${batch}/commit`, {});
  expect(await status()).toBe('accepted');
  const undone = await admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false });
  expect(undone.body).toMatchObject({ counts: { undone: 1 } });
  expect(await status()).toBe('pending');
});

it('leaves what was there when a run is cancelled', async () => {
  const before = await listed('?fields=card_id,score,reasons');
  const { run_id, job_id } = (await admin.post(`${root}/modernizations/analyse`, {})).body;
  await admin.post(`/api/v1/jobs/${job_id}/cancel`);
  await endOfRun(admin, run_id);
  expect(await listed('?fields=card_id,score,reasons')).toEqual(before);
  await run({});
  expect(await listed('?fields=card_id,score,reasons')).toEqual(before);
  expect(await db('modernizations').where({ is_current: false })).toEqual([]);
});

it('goes on from the last page that a dead worker kept, with the same outcome', async () => {
  const before = await listed('?target_type=Application&fields=card_id,score,reasons');
  await workers.close(2_000);
  const { run_id, job_id } = (await admin.post(`${root}/modernizations/analyse`, {})).body;
  // what a worker had kept when it died: the first two cards
  const cards = await db('cards').where({ type: 'Application' }).orderBy('id').limit(2).pluck('id');
  await sql.run`
       insert into modernizations (run_id, target_type, card_id, modernization_type, current_tech,
         recommendation, effort,
       score, score_without_costs, reasons, dependants)
     select ${run_id}, target_type, card_id, modernization_type, current_tech, recommendation, effort, score,
       score_without_costs, reasons, dependants from modernizations where is_current and card_id = any(${cards}::uuid[])`;
  const { rows } = await db.raw(`
       select percentile_disc(array(select n / 100.0 from generate_series(0, 100) n)) within group (
       order by (attributes ->> 'costTotalAnnual')::numeric) as ranks from cards where type = 'Application'`);
  const checkpoint = {
    after: cards[1],
    judged: 2,
    total: 4,
    ranks: rows[0].ranks.map(Number),
    today: new Date().toISOString().slice(0, 10),
  };
  await db('jobs').where({ id: job_id }).update('checkpoint', JSON.stringify(checkpoint));
  workers = await startWorkers(t.services, analysisProcessors);
  const ended = await endOfRun(admin, run_id);
  expect(ended).toMatchObject({ status: 'completed', results: { cards: 4, candidates: 3 } });
  expect(await listed('?target_type=Application&fields=card_id,score,reasons')).toEqual(before);
});

it('refuses what is unknown, not allowed or under way', async () => {
  const [{ id: candidate }] = await listed();
  await expectProblem(decide(candidate, 'done'), 422);
  await expectProblem(decide(id.get('Old Claims')!, 'accepted'), 404);
  await expectProblem(
    member.patch(`${root}/modernizations/${candidate}/status`, { status: 'accepted' }),
    403,
  );
  await expectProblem(member.post(`${root}/modernizations/analyse`, {}), 403);
  for (const body of [
    { target_type: 'Nothing' },
    { modernization_type: 'burn' },
    { other: 1 },
    { target_type: 5 },
  ])
    await expectProblem(admin.post(`${root}/modernizations/analyse`, body), 422);
  for (const query of ['?sort_by=status', '?priority=urgent', '?status=done', '?fields=run_id'])
    await expectProblem(member.get(`${root}/modernizations${query}`), 422);
  await workers.close(2_000);
  await ok(admin.post(`${root}/modernizations/analyse`, {}), 202);
  await expectProblem(admin.post(`${root}/modernizations/analyse`, {}), 409);
});
