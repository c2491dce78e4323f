// @redis

import { query } from '../../platform/database.ts';
import { openApp } from '../support/harness.ts';
import { jobRow, killableWorkers, killWorker, survivingWorker, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const CARDS = 4_000;
const url = '/api/v1/compliance';

const start = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

const { t, admin } = await openApp(['admin']);
await query(t.services.db).run`insert into cards (type, name, attributes, data_quality)
     select 'Application', 'Card ' || n, '{"businessCriticality": "missionCritical"}', 0 from generate_series(1, ${CARDS}) n`;

const place = async (job: string) =>
  (await jobRow(t.services, job)).checkpoint as { rule: number; at: { gaps: number } } | null;
const findings = () =>
  t.services.db('compliance_findings').select('id', 'rule_key', 'card_id', 'auto_resolved', 'decision');

it('a scan whose worker is killed goes on with the page after the last, and finds nothing twice', async () => {
  const { body } = await admin.post(`${url}/scans`, { regulations: ['nis2'] });
  for (const rule of [0, 2]) {
    const worker = await start();
    await until('a page of a rule', async () => {
      const at = await place(body.job_id);
      return at && at.rule >= rule && at.at.gaps > 0;
    });
    await killWorker(t.services, worker);
    expect((await jobRow(t.services, body.job_id)).status).toBe('running');
  }
  await goOn();
  const done = await untilStatus(t.services, body.job_id, 'succeeded');
  // not approved, on nothing, with nobody responsible; and that all are known to be critical, on sound components
  expect(done.counts).toMatchObject({ gaps: 3 * CARDS, found: 3 * CARDS + 2, resolved: 0, unchanged: 0 });
  const found = await findings();
  expect(found).toHaveLength(3 * CARDS + 2);
  expect(new Set(found.map(({ rule_key, card_id }) => `${rule_key} ${card_id}`)).size).toBe(found.length);
  const told = await t.services.db('events').where({ event_type: 'compliance_finding.created' });
  expect(new Set(told.map(({ data }) => data.id))).toEqual(new Set(found.map(({ id }) => id)));
  expect(told).toHaveLength(found.length);
}, 120_000);

it('a scan that is cancelled stops within two seconds, and the next one ends what it began', async () => {
  await t.services.db('cards').update({ approval_status: 'APPROVED' });
  const { body } = await admin.post(`${url}/scans`, { regulations: ['nis2'] });
  await goOn();
  await until('some findings to be resolved', async () => {
    return ((await jobRow(t.services, body.job_id)).counts?.resolved ?? 0) > 0;
  });
  expect((await admin.post(`/api/v1/ai-analysis/analysis-runs/${body.run_id}/cancel`)).status).toBe(200);
  await untilStatus(t.services, body.job_id, 'cancelled', 2_000);
  const next = await admin.post(`${url}/scans`, { regulations: ['nis2'] });
  expect(next.status, next.text).toBe(202);
  await untilStatus(t.services, next.body.job_id, 'succeeded');
  const resolved = (await findings()).filter(({ auto_resolved }) => auto_resolved);
  expect(resolved).toHaveLength(CARDS);
  expect(new Set(resolved.map(({ rule_key }) => rule_key))).toEqual(new Set(['approved']));
}, 120_000);
