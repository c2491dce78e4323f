import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 5;
const reports = ['landscape', 'capability-heatmap', 'app-portfolio'] as const;
const TYPES = `select record_events('[]', array(select topic from topic_versions where topic like 'cards:%'))`;

/** What the reports on groups of cards cost when they have to be computed, in the unit U. */
async function run({ service, client, loadLandscape, unit }: Context): Promise<Row[]> {
  await loadLandscape();
  const floor = await unit();
  const rows: Row[] = [];
  for (const report of reports) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.query(TYPES);
      const start = performance.now();
      const answer = await service.api.fetch(`/reports/${report}`);
      await answer.arrayBuffer();
      times.push(performance.now() - start);
    }
    rows.push(under({ figure: `${report}, computed`, value: median(times), unit: 'ms', floor }, 2));
  }
  return rows;
}

export const landscapeReports = { name: 'landscape-reports', run };
