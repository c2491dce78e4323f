import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 11;

/** Milliseconds that the dashboard takes after each of some changes. */
async function afterEach({ service }: Context, change: (round: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await change(round);
    const start = performance.now();
    await service.api.get('/reports/dashboard');
    times.push(performance.now() - start);
  }
  return median(times);
}

async function run(context: Context): Promise<Row[]> {
  const { service, client } = context;
  const unit = await context.unit();
  const { rows } = await client.query<{ id: string }>(
    `select id from cards where status = 'ACTIVE' and type = 'Application' order by id limit 1`,
  );
  const changed = await afterEach(context, (round) =>
    service.api.patch(`/cards/${rows[0]!.id}`, { alias: `round ${round}` }),
  );
  const anew = await afterEach(context, () =>
    client.query(
      `select record_events('[]', array(select topic from topic_versions where topic like 'cards:%'))`,
    ),
  );
  const row = (figure: string, value: number) => under({ figure, value, unit: 'ms', floor: unit }, 0.5);
  return [
    row('dashboard, computed after a change', changed),
    row('dashboard, computed after changes of all types', anew),
  ];
}

/** What the dashboard costs when it has to be computed, in the unit U. */
export const dashboardComputed = { name: 'dashboard-computed', run };
