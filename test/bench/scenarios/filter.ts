import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { percentile } from '../harness/stats.ts';

const ROUNDS = 20;

/** Filters over two attributes and a relation; each is asked anew, so that no kept order answers it. */
const filters: Record<string, (round: number) => string> = {
  'one option, one number': (round) =>
    `type = Application and attributes.businessCriticality = missionCritical and attributes.numberOfUsers > ${1000 + round} and relation.relAppToITC is not empty`,
};

async function run({ service, unit, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const floor = await unit();
  const rows: Row[] = [];
  for (const [name, filterOf] of Object.entries(filters)) {
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const query = new URLSearchParams({ filter: filterOf(round), page_size: '50' });
      const start = performance.now();
      const { total } = await service.api.get<{ total: number }>(`/cards?${query}`);
      // the first one makes the connection's prepared queries
      if (round > 0) times.push(performance.now() - start);
      else log(`filter by ${name}: ${total} cards`);
    }
    const value = percentile(times, 0.5);
    rows.push(under({ figure: `filter by ${name}, p50`, value, unit: 'ms', floor }, 0.1));
  }
  return rows;
}

/** How fast the list answers filters over attributes and relations that it has not been asked before. */
export const filter = { name: 'filter', run };
