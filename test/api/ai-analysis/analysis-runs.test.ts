// @redis
import { setTimeout as delay } from 'node:timers/promises';
import { startAnalysis } from '../../../domain/analysis/runs/runs.ts';
import { analysisPayload } from '../../../domain/analysis/runs/runs.types.ts';
import { command } from '../../../domain/kernel/command.ts';
import { cancelJob, retryJob } from '../../../domain/kernel/jobs/jobs.commands.ts';
import { defineJob } from '../../../domain/kernel/jobs/jobs.define.ts';
import { EstateError } from '../../../platform/errors.ts';
import { processesAnalysis } from '../../../workers/analysis/analysis.processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, openApp, pluck } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

const url = '/api/v1/ai-analysis/analysis-runs';
const job = defineJob({
  kind: 'test_analysis',
  queue: 'bulk',
  payload: analysisPayload,
  attempts: 1,
  resumable: true,
});
const waits = processesAnalysis(job, async ({ ctx, signal, progress }, { parameters, finish }) => {
  if (parameters.fail) throw new EstateError('upstream_failed', 'The other side is away.');
  if (parameters.wait) {
    progress(0.5, 'halfway');
    await delay(60_000, undefined, { signal });
  }
  const part = { part: 'words', provider: 'p', model: 'm', prompt: 'words@1' };
  const outcome = {
    results: { found: 3 },
    modelVersion: 'v1',
    modelParts: [{ ...part, calls: 1, input_tokens: 10, output_tokens: 2 }],
  };
  await command(ctx, (work) => finish(work, outcome));
});

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services, [waits]));

const start = async (parameters = {}) =>
  await startAnalysis(await t.ctx(), { type: 'vendors', job, parameters });
const runIs = async (id: string, status: string) =>
  await until(`run ${id} to be ${status}`, async () => {
    const { body } = await admin.get(`${url}/${id}`);
    return body.status === status ? body : undefined;
  });
const eventsOf = async (id: string) =>
  pluck(await db('events').whereRaw(`data ->> 'id' = ?`, [id]).orderBy('position'), 'event_type');

it('end well with their figures and what a model had a hand in', async () => {
  const { run_id, job_id, links } = await start();
  expect(links).toEqual({ self: `${url}/${run_id}`, job: `/api/v1/jobs/${job_id}` });
  expect(await runIs(run_id, 'completed')).toMatchObject({
    analysis_type: 'vendors',
    progress: 1,
    results: { found: 3 },
    model_version: 'v1',
    model_parts: [{ part: 'words', input_tokens: 10 }],
    error_code: null,
  });
  expect(await eventsOf(run_id)).toEqual(['analysis_run.started', 'analysis_run.completed']);
  expect(await untilStatus(t.services, job_id, 'succeeded')).toMatchObject({ result: { run_id, found: 3 } });
  const { items } = (await admin.get(`${url}?analysis_type=vendors&status=completed&fields=id`)).body;
  expect(items).toEqual([{ id: run_id }]);
});

it('are one of a kind at a time, cancelled within two seconds, and taken up again', async () => {
  const { run_id, job_id } = await start({ wait: true });
  await until('progress', async () => (await admin.get(`${url}/${run_id}`)).body.progress === 0.5);
  await expect(start()).rejects.toMatchObject({ code: 'wrong_state', extra: { run_id, job_id } });
  const cancelled = await admin.post(`${url}/${run_id}/cancel`);
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  await untilStatus(t.services, job_id, 'cancelled', 2_000);
  await expectProblem(admin.post(`${url}/${run_id}/cancel`), 409);
  await db('analysis_runs').where({ id: run_id }).update({ parameters: '{}' });
  await retryJob(await t.ctx(), job_id);
  expect(await runIs(run_id, 'completed')).toMatchObject({ results: { found: 3 } });
  expect(await eventsOf(run_id)).toEqual([
    'analysis_run.started',
    'analysis_run.cancelled',
    'analysis_run.started',
    'analysis_run.completed',
  ]);
});

it('end with their job when that is cancelled or fails', async () => {
  const waiting = await start({ wait: true });
  await until('the job', async () => (await admin.get(`${url}/${waiting.run_id}`)).body.progress === 0.5);
  await cancelJob(await t.ctx(), waiting.job_id);
  await runIs(waiting.run_id, 'cancelled');
  const failing = await start({ fail: true });
  const failed = await runIs(failing.run_id, 'failed');
  expect(failed).toMatchObject({ error_code: 'upstream_failed', error_message: 'The other side is away.' });
  expect(await eventsOf(failing.run_id)).toEqual(['analysis_run.started', 'analysis_run.failed']);
});

it('make room when their job was ended before it began', async () => {
  const { run_id, job_id } = await start({ wait: true });
  await db('jobs').where({ id: job_id }).update({ status: 'cancelled' });
  expect((await admin.get(`${url}/${run_id}`)).body.status).toBe('cancelled');
  await runIs((await start()).run_id, 'completed');
  expect(await db('analysis_runs').where({ id: run_id }).first('status')).toEqual({ status: 'cancelled' });
});

it('refuse what does not fit', () => expectProblem(admin.get(`${url}?analysis_type=nonsense`), 422));
