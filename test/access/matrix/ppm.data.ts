import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

const initiative = async (w: World) => await w.card({ type: 'Initiative' });
const of = async (w: World) => ({ path: { initiative_id: await initiative(w) } });

/** A row of a kind, on an initiative of its own unless told otherwise. */
async function made(w: World, table: string, values: object, card?: string): Promise<string> {
  const [found] = await w.t.services
    .db(`ppm_${table}`)
    .insert({ card_id: card ?? (await initiative(w)), ...values })
    .returning('id');
  return found.id;
}
const one = (param: string, table: string, values: object, body?: object) => async (w: World) => ({
  path: { [param]: await made(w, table, values) },
  ...(body ? { body } : {}),
});
const posted = (body: object) => async (w: World) => ({ ...(await of(w)), body });

const health = { schedule_health: 'onTrack', cost_health: 'onTrack', scope_health: 'onTrack' };
const report = { report_date: '2026-03-31', ...health };
const cost = { description: 'Licences', category: 'opex' };
const budget = { fiscal_year: 2026, category: 'capex' };
const risk = { title: 'R', probability: 2, impact: 3, status: 'open' };
const task = { title: 'T', status: 'todo', priority: 'low' };
const wbs = { title: 'W' };

async function ends(w: World): Promise<{ card: string; pred: string; succ: string }> {
  const card = await initiative(w);
  return { card, pred: await made(w, 'tasks', task, card), succ: await made(w, 'wbs', wbs, card) };
}
/** A comment of the role's own. */
async function ownComment(w: World, role: Role): Promise<{ comment_id: string }> {
  const { userId } = await w.t.as(role === 'anonymous' ? 'admin' : role);
  const card = await initiative(w);
  const task_id = await made(w, 'tasks', task, card);
  return { comment_id: await made(w, 'task_comments', { task_id, user_id: userId, content: 'Said.' }, card) };
}

const READ = '+ + + + - - 0';
const WRITE = '+ + + - - - 0';
const base = '/api/v1/ppm/initiatives/{initiative_id}';
const reads = [
  'reports',
  'costs',
  'budgets',
  'has-costs',
  'risks',
  'tasks',
  'wbs',
  'dependencies',
  'completion',
];

/** Whoever sees portfolios reads; who manages them writes, and comments are their authors' own. */
export const ppmRows: Row[] = [
  // operation                                  A B M V I P 0
  ...[...reads, 'critical-path'].map((what) => row(`GET ${base}/${what}`, READ, of)),
  ...['group-options', 'dashboard', 'gantt'].map((what) => row(`GET /reports/ppm/${what}`, READ)),
  row(`POST ${base}/reports`, WRITE, posted({ report_date: '2026-03-31' })),
  row('PATCH /ppm/reports/{report_id}', WRITE, one('report_id', 'reports', report, { summary: 'S' })),
  row('DELETE /ppm/reports/{report_id}', WRITE, one('report_id', 'reports', report)),
  row(`POST ${base}/costs`, WRITE, posted({ ...cost, actual: 5 })),
  row('PATCH /ppm/costs/{cost_id}', WRITE, one('cost_id', 'cost_lines', cost, { planned: 7 })),
  row('DELETE /ppm/costs/{cost_id}', WRITE, one('cost_id', 'cost_lines', { ...cost, actual: 3 })),
  row(`POST ${base}/budgets`, WRITE, posted({ ...budget, amount: 5 })),
  row('PATCH /ppm/budgets/{budget_id}', WRITE, one('budget_id', 'budget_lines', budget, { amount: 7 })),
  row('DELETE /ppm/budgets/{budget_id}', WRITE, one('budget_id', 'budget_lines', budget)),
  row(`POST ${base}/risks`, WRITE, posted({ title: 'R' })),
  row('PATCH /ppm/risks/{risk_id}', WRITE, one('risk_id', 'risks', risk, { status: 'closed' })),
  row('DELETE /ppm/risks/{risk_id}', WRITE, one('risk_id', 'risks', risk)),
  row(`POST ${base}/tasks`, WRITE, posted({ title: 'T' })),
  row('PATCH /ppm/tasks/{task_id}', WRITE, one('task_id', 'tasks', task, { status: 'done' })),
  row('DELETE /ppm/tasks/{task_id}', WRITE, one('task_id', 'tasks', task)),
  row('GET /ppm/tasks/{task_id}/comments', READ, one('task_id', 'tasks', task)),
  row('POST /ppm/tasks/{task_id}/comments', WRITE, one('task_id', 'tasks', task, { content: 'C' })),
  row('PATCH /ppm/task-comments/{comment_id}', WRITE, async (w, role) => ({
    path: await ownComment(w, role),
    body: { content: 'Said otherwise.' },
  })),
  row('DELETE /ppm/task-comments/{comment_id}', WRITE, async (w, role) => ({
    path: await ownComment(w, role),
  })),
  row(`POST ${base}/wbs`, WRITE, posted({ title: 'W' })),
  row('PATCH /ppm/wbs/{wbs_id}', WRITE, one('wbs_id', 'wbs', wbs, { completion: 40 })),
  row('DELETE /ppm/wbs/{wbs_id}', WRITE, one('wbs_id', 'wbs', wbs)),
  row(`POST ${base}/dependencies`, WRITE, async (w) => {
    const { card, pred, succ } = await ends(w);
    return {
      path: { initiative_id: card },
      body: { pred_kind: 'task', pred_id: pred, succ_kind: 'wbs', succ_id: succ },
    };
  }),
  row('DELETE /ppm/dependencies/{dep_id}', WRITE, async (w) => {
    const { card, pred, succ } = await ends(w);
    const values = { pred_task_id: pred, succ_wbs_id: succ };
    return { path: { dep_id: await made(w, 'dependencies', values, card) } };
  }),
];
