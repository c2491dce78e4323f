import { randomUUID } from 'node:crypto';
import { idFor } from '../../../domain/analysis/duplicates/duplicates.records.ts';
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

/** Two applications that were found to be one, with their cluster and pair. */
export const findDuplicates = async (w: World) => {
  const { db } = w.t.services;
  const ids = [await w.card(), await w.card()].sort();
  const model = {
    id: 'm',
    card_type: 'Application',
    fields: '[]',
    weights: '{"order": [], "priorBits": -8}',
  };
  await db('duplicate_models').insert(model).onConflict('id').ignore();
  const scores = { cohesion: 0.9, least_score: 0.9, most_score: 0.9 };
  const cluster = { id: randomUUID(), card_type: 'Application', card_ids: ids, run_id: randomUUID() };
  await db('duplicate_clusters').insert({ ...cluster, ...scores, found_at: db.fn.now() });
  const pair = { id: idFor('pair', ids), card_type: 'Application', left_id: ids[0], right_id: ids[1] };
  const measured = { class: 'match', score: 0.9, alone: 0.9, similarities: [], bits: [] };
  await db('duplicate_pairs').insert({ ...pair, ...measured, model_id: 'm', cluster_id: cluster.id });
  return { cluster_id: cluster.id, pair_id: pair.id, card_ids: ids };
};
const onCluster = async (w: World) => ({ path: { cluster_id: (await findDuplicates(w)).cluster_id } });
const onPair = async (w: World) => ({ path: { pair_id: (await findDuplicates(w)).pair_id } });
const noRun = async (w: World) => {
  await w.t.services.db('analysis_runs').where({ status: 'running' }).update({ status: 'cancelled' });
  return { body: {} };
};
const confirming = { body: { status: 'confirmed' } };

export const aiAnalysisRows: Row[] = [
  row(`GET ${base}/analysis-runs`, seeing),
  row(`GET ${base}/analysis-runs/{run_id}`, seeing, onRun('completed')),
  row(`POST ${base}/analysis-runs/{run_id}/cancel`, managing, onRun('running')),
  row(`GET ${base}/status`, '+ + + + + + 0'),
  row(`GET ${base}/overview`, seeing),
  row(`POST ${base}/duplicates/analyse`, managing, noRun),
  row(`GET ${base}/duplicates`, seeing),
  row(`GET ${base}/duplicates/quality`, seeing),
  row(`GET ${base}/duplicates/{cluster_id}`, seeing, onCluster),
  row(`PATCH ${base}/duplicates/{cluster_id}/status`, managing, async (w) => ({
    ...(await onCluster(w)),
    ...confirming,
  })),
  row(`POST ${base}/duplicates/{cluster_id}/merge`, managing, onCluster, {}),
  row(`GET ${base}/duplicate-pairs`, seeing),
  row(`GET ${base}/duplicate-pairs/{pair_id}`, seeing, onPair),
  row(`PATCH ${base}/duplicate-pairs/{pair_id}/status`, managing, async (w) => ({
    ...(await onPair(w)),
    ...confirming,
  })),
];
