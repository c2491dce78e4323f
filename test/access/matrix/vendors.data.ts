import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const base = '/api/v1/ai-analysis';
const seeing = '+ + + - - - 0';
const managing = '+ - - - - - 0';

/** A run of the kind that another role's allowed request began stands in nobody's way. */
const noRun = async (w: World) => {
  await w.t.services.db('analysis_runs').where({ status: 'running' }).update({ status: 'cancelled' });
  return {};
};

/** What a run proposed for an application, about which nobody has decided. */
const onModernization = async (w: World) => {
  const found = {
    run_id: randomUUID(),
    is_current: true,
    target_type: 'Application',
    card_id: await w.card(),
  };
  const proposed = {
    modernization_type: 'retire',
    current_tech: 'Old',
    recommendation: 'Retire it',
    effort: 'low',
  };
  const [{ id }] = await w.t.services
    .db('modernizations')
    .insert({ ...found, ...proposed, score: 50, score_without_costs: 50, reasons: '[]', dependants: 0 })
    .returning('id');
  return { path: { modernization_id: id as string }, body: { status: 'accepted' } };
};

export const vendorRows: Row[] = [
  row(`POST ${base}/vendors/analyse`, managing, noRun),
  row(`POST ${base}/vendors/resolve`, managing, noRun),
  row(`GET ${base}/vendors`, seeing),
  row(`GET ${base}/vendors/hierarchy`, seeing),
  row(`GET ${base}/vendors/concentration`, seeing),
  row(`POST ${base}/modernizations/analyse`, managing, async (w) => ({ ...(await noRun(w)), body: {} })),
  row(`GET ${base}/modernizations`, seeing),
  row(`PATCH ${base}/modernizations/{modernization_id}/status`, managing, onModernization),
];
