import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { percentile } from '../harness/stats.ts';

const criticalities = ['missionCritical', 'businessCritical', 'businessOperational', 'administrativeService'];
const users = [0, 200, 400, 800];

async function run({ service, unit, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const floor = await unit();
  /** The text of the answer: what a client makes of it is not the service's work. */
  const ask = async (filter: string) => {
    const query = new URLSearchParams({ $filter: filter, $expand: 'RelAppToITC' });
    const answer = await fetch(`${service.api.url}/odata/v4/Application?${query}`, {
      headers: service.api.headers,
    });
    if (!answer.ok) throw new Error(`OData answered ${answer.status}: ${await answer.text()}`);
    return await answer.text();
  };
  // as any service in use has done: connections are there, and the model is built
  await ask("name eq 'nothing'");
  const times: number[] = [];
  let entities = 0;
  let related = 0;
  for (const criticality of criticalities) {
    for (const least of users) {
      const start = performance.now();
      const text = await ask(`businessCriticality eq '${criticality}' and numberOfUsers gt ${least}`);
      times.push(performance.now() - start);
      const { value: found } = JSON.parse(text) as { value: { RelAppToITC: unknown[] }[] };
      entities += found.length;
      related += found.reduce((sum, entity) => sum + entity.RelAppToITC.length, 0);
    }
  }
  log(
    `OData: ${entities / times.length} entities a page with ${related / times.length} related ones on average`,
  );
  const figure = 'OData page with a filter on two attributes and an expanded relation, p50';
  return [under({ figure, value: percentile(times, 0.5), unit: 'ms', floor }, 0.3)];
}

/** How fast OData answers pages of filtered entities with related ones that it has not been asked for before. */
export const odata = { name: 'odata', run };
