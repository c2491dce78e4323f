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

export const vendorRows: Row[] = [
  row(`POST ${base}/vendors/analyse`, managing, noRun),
  row(`POST ${base}/vendors/resolve`, managing, noRun),
  row(`GET ${base}/vendors`, seeing),
  row(`GET ${base}/vendors/hierarchy`, seeing),
  row(`GET ${base}/vendors/concentration`, seeing),
  row(`POST ${base}/modernizations/analyse`, managing, async (w) => ({ ...(await noRun(w)), body: {} })),
  row(`GET ${base}/modernizations`, seeing),
];
