import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const base = '/api/v1/ai-analysis';
const seeing = '+ + + - - - 0';
const managing = '+ - - - - - 0';

const onRun = (status: string) => async (w: World) => {
  const { db } = w.t.services;
  await db('analysis_runs').where({ status: 'running' }).update({ status: 'cancelled' });
  const [{ id }] = await db('analysis_runs').insert({ analysis_type: 'duplicates', status }).returning('id');
  if (status === 'running') {
    const [job] = await db('jobs')
      .insert({ kind: 'unknown', queue: 'bulk', payload: {}, rights: {}, run_after: '2100-01-01' })
      .returning('id');
    await db('analysis_runs').where({ id }).update({ job_id: job.id });
  }
  return { path: { run_id: id as string } };
};

export const aiAnalysisRows: Row[] = [
  row(`GET ${base}/analysis-runs`, seeing),
  row(`GET ${base}/analysis-runs/{run_id}`, seeing, onRun('completed')),
  row(`POST ${base}/analysis-runs/{run_id}/cancel`, managing, onRun('running')),
];
