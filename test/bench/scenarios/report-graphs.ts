import { drain } from '../harness/export.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const ROUNDS = 3;

const query = {
  from: ['Application'],
  dimensions: [
    { field: 'attributes.businessCriticality' },
    { field: 'relation.relAppToITC.target.subtype', as: 'component' },
    { field: 'phase' },
  ],
  measures: [
    { fn: 'count' },
    { fn: 'sum', field: 'attributes.costTotalAnnual' },
    { fn: 'percentile', p: 0.9, field: 'attributes.numberOfUsers' },
    { fn: 'sum', field: 'relation.relAppToITC.attributes.costTotalAnnual' },
  ],
};

async function run({ service, client, unit, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const { api } = service;
  const floor = await unit();
  const { rows: hubs } = await client.query<{ id: string; n: number }>(
    `select c.id, count(*)::int as n from cards c join relations r on c.id in (r.source_id, r.target_id)
     where c.status = 'ACTIVE' group by c.id order by n desc limit 1`,
  );
  log(`the busiest card has ${hubs[0]!.n} relations`);
  const { rows: usual } = await client.query<{ id: string }>(
    `select source_id as id from relations where type = 'relAppToITC' order by id limit ${ROUNDS}`,
  );
  const timed = async (ask: (round: number) => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // so that nothing that is kept answers
      await client.query(
        `select record_events('[]', array(select topic from topic_versions where topic like 'cards:%'))`,
      );
      const start = performance.now();
      await ask(round);
      times.push(performance.now() - start);
    }
    return median(times);
  };
  const read = async (path: string) => {
    const { bytes } = await drain(await api.fetch(path));
    log(`${path.slice(0, 60)}: ${Math.round(bytes / 1000)} kB`);
  };
  const row = (figure: string, value: number, factor: number) =>
    under({ figure, value, unit: 'ms', floor }, factor);
  return [
    row('matrix', await timed(() => read('/reports/matrix')), 2),
    row(
      'dependencies, 2 hops around a card',
      await timed((round) => read(`/reports/dependencies?center_id=${usual[round]!.id}`)),
      0.3,
    ),
    row(
      'dependencies, 2 hops around the busiest card',
      await timed(() => read(`/reports/dependencies?center_id=${hubs[0]!.id}`)),
      0.3,
    ),
    row('dependencies, whole graph, streamed', await timed(() => read('/reports/dependencies')), 5),
    row(
      'query: 3 dimensions, 4 measures, over a relation',
      await timed(() => api.post('/reports/query', query)),
      2,
    ),
  ];
}

/** What the reports of relations and a query over all cards cost, in the unit U. */
export const reportGraphs = { name: 'report-graphs', run };
