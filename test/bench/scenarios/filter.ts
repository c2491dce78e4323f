import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { percentile } from '../harness/stats.ts';

const criticalities = ['missionCritical', 'businessCritical', 'businessOperational', 'administrativeService'];
const models = ['tolerate', 'invest', 'migrate', 'eliminate'];
const related = 'relation.relAppToITC is not empty';

/** Filters over two attributes and a relation, each different, so that no kept order answers one of them. */
const filters: Record<string, string[]> = {
  'two options': criticalities.flatMap((criticality) =>
    models.map(
      (model) =>
        `type = Application and attributes.businessCriticality = ${criticality} and attributes.timeModel = ${model} and ${related}`,
    ),
  ),
  'an option and a number': criticalities.flatMap((criticality) =>
    [5_000, 8_000, 11_000, 14_000].map(
      (users) =>
        `type = Application and attributes.businessCriticality = ${criticality} and attributes.numberOfUsers > ${users} and ${related}`,
    ),
  ),
};

async function run({ service, unit, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const floor = await unit();
  const ask = async (filter: string) => {
    const query = new URLSearchParams({ filter, page_size: '50' });
    return await service.api.get<{ total: number }>(`/cards?${query}`);
  };
  // as any service in use has done: connections and their prepared queries are there
  await ask(`${related} and attributes.numberOfUsers > 20000`);
  const rows: Row[] = [];
  for (const [name, texts] of Object.entries(filters)) {
    const times: number[] = [];
    let found = 0;
    for (const text of texts) {
      const start = performance.now();
      found += (await ask(text)).total;
      times.push(performance.now() - start);
    }
    log(`filter by ${name}: ${Math.round(found / texts.length)} cards on average`);
    const value = percentile(times, 0.5);
    rows.push(under({ figure: `filter by ${name} and a relation, p50`, value, unit: 'ms', floor }, 0.1));
  }
  return rows;
}

/** How fast the list answers filters over two attributes and a relation that it has not been asked before. */
export const filter = { name: 'filter', run };
