import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 7;
const TASKS = 5_000;
const ITEMS = 250;

/** Money, reports and people for all initiatives, and one plan that holds all tasks. @returns that initiative. */
async function plan({ client }: Context): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `select id from cards where type = 'Initiative' and status = 'ACTIVE' order by id limit 1`,
  );
  const { id } = rows[0]!;
  await client.query(
    `insert into ppm_reports (card_id, report_date, schedule_health, cost_health, scope_health, summary)
     select c.id, date '2026-01-31' + 30 * n, 'onTrack', 'atRisk', 'onTrack', 'As planned.'
     from cards c, generate_series(1, 3) n where c.type = 'Initiative'`,
  );
  await client.query(
    `insert into ppm_cost_lines (card_id, description, category, planned, actual, date)
     select c.id, 'Line ' || n, (array['capex', 'opex'])[1 + n % 2], 100 * n, 80 * n, date '2026-01-01' + 20 * n
     from cards c, generate_series(1, 6) n where c.type = 'Initiative'`,
  );
  await client.query(
    `insert into ppm_wbs (id, card_id, title, sort_order)
     select md5('item' || n)::uuid, $1, 'Item ' || n, n from generate_series(1, ${ITEMS}) n`,
    [id],
  );
  await client.query(
    `insert into ppm_tasks (id, card_id, title, status, priority, wbs_id, start_date, due_date)
     select md5('task' || n)::uuid, $1, 'Task ' || n, 'todo', 'medium', md5('item' || 1 + n % ${ITEMS})::uuid,
       date '2026-01-01' + n % 300, date '2026-01-01' + n % 300 + 1 + n % 20
     from generate_series(1, ${TASKS}) n`,
    [id],
  );
  // each task after two earlier ones of its item, and items in chains of five
  await client.query(
    `insert into ppm_dependencies (card_id, pred_task_id, succ_task_id)
     select $1, md5('task' || n - back)::uuid, md5('task' || n)::uuid
     from generate_series(1, ${TASKS}) n, unnest(array[${ITEMS}, ${2 * ITEMS}]) back where n > back`,
    [id],
  );
  await client.query(
    `insert into ppm_dependencies (card_id, pred_wbs_id, succ_wbs_id)
     select $1, md5('item' || n)::uuid, md5('item' || n + 1)::uuid from generate_series(1, ${ITEMS - 1}) n where n % 5 <> 0`,
    [id],
  );
  await client.query('analyze ppm_tasks, ppm_wbs, ppm_dependencies, ppm_cost_lines, ppm_reports');
  return id;
}

async function run(context: Context): Promise<Row[]> {
  const { service, client } = context;
  const floor = await context.unit();
  const id = await plan(context);
  const timed = async (path: string): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.query(`select record_events('[]', array['ppm'])`);
      const start = performance.now();
      await service.api.get(path);
      times.push(performance.now() - start);
    }
    return median(times);
  };
  const row = async (figure: string, path: string) =>
    under({ figure, value: await timed(path), unit: 'ms', floor }, 0.5);
  return [
    await row('gantt of all initiatives, computed', '/reports/ppm/gantt'),
    await row('portfolio dashboard, computed', '/reports/ppm/dashboard'),
    await row(`critical path of ${TASKS} tasks`, `/ppm/initiatives/${id}/critical-path`),
    await row(`progress of ${ITEMS} items over ${TASKS} tasks`, `/ppm/initiatives/${id}/wbs?page_size=200`),
  ];
}

/** What a portfolio with a large plan costs to look at, in the unit U. */
export const ppm = { name: 'ppm', run };
