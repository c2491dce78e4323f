import { type Job, untilDone } from '../harness/api.ts';
import { connect, timed } from '../harness/database.ts';
import { sampleMemory } from '../harness/memory.ts';
import { type Row, under, within } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { median } from '../harness/stats.ts';

const MB = 1_000_000;
/** Memory is compared with that of so many applications. */
const SMALL = 20_000;
/** Fewer are computed with the request itself. */
const LEAST = 2_500;
const FORMULA = 'ROUND(SUM(PLUCK(relations.relAppToITC, "attributes.costTotalAnnual")) * 1.2, 2)';

interface Measured {
  ms: number;
  growthBytes: number;
  /** Applications that have another value than they should. */
  wrong: number;
  /** The same values by one UPDATE of PostgreSQL. */
  floorMs: number;
}

/** Puts a formula over relations into force, in a fresh service with so many applications, and waits for its job. */
async function measure(applications: number): Promise<Measured> {
  await using resources = new AsyncDisposableStack();
  const service = resources.adopt(await startService(), (started) => started.stop());
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  await client.query(
    `insert into cards (type, name, attributes, data_quality)
     select 'ITComponent', 'Component ' || n, jsonb_build_object('costTotalAnnual', n), 0 from generate_series(1, 1000) n`,
  );
  await client.query(
    `insert into cards (type, name, attributes, data_quality)
     select 'Application', 'Application ' || n, jsonb_build_object('businessCriticality', 'high'), 0
     from generate_series(1, ${applications}) n`,
  );
  await client.query(
    `with app as (select id, row_number() over (order by id) as n from cards where type = 'Application'),
       component as (select id, row_number() over (order by id) as n from cards where type = 'ITComponent')
     insert into relations (type, source_id, target_id, attributes)
     select 'relAppToITC', app.id, component.id, '{}' from app
     cross join generate_series(0, 2) k join component on component.n = (app.n * 7 + k * 13) % 1000 + 1`,
  );
  await client.query('vacuum analyze');
  const { api } = service;
  const { id } = await api.post<{ id: string }>('/calculations', {
    name: 'Cost of components',
    target_type_key: 'Application',
    target_field_key: 'costTotalAnnual',
    formula: FORMULA,
  });
  const memory = resources.adopt(sampleMemory([service.pid]), (sampling) => void sampling.stop());
  const start = performance.now();
  await api.post(`/calculations/${id}/activate`, {});
  const { items } = await api.get<{ items: Job[] }>('/jobs?kind=recalculate');
  await untilDone(api, items[0]!.id);
  const ms = performance.now() - start;
  const { growthBytes } = memory.stop();
  const values = `select a.id, round(sum(coalesce((c.attributes ->> 'costTotalAnnual')::numeric, 0)) * 1.2, 2) as value
    from cards a join relations r on r.source_id = a.id join cards c on c.id = r.target_id
    where a.type = 'Application' group by a.id`;
  const { rows } = await client.query<{ wrong: number }>(
    `select count(*)::int as wrong from cards a left join (${values}) v on v.id = a.id
     where a.type = 'Application' and (a.attributes ->> 'costTotalAnnual')::numeric is distinct from v.value`,
  );
  const floorMs = await timed(
    client,
    `update cards c set attributes = c.attributes || jsonb_build_object('costTotalAnnual', v.value), updated_at = now()
     from (${values}) v where v.id = c.id`,
  );
  return { ms, growthBytes, wrong: rows[0]!.wrong, floorMs };
}

/** So many services each, since what a collector of garbage leaves differs from process to process. */
const ROUNDS = 3;

async function run({ args, log }: Context): Promise<Row[]> {
  const small: Measured[] = [];
  const all: Measured[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    small.push(await measure(Math.max(LEAST, Math.min(SMALL, Math.floor(args.cards / 5)))));
    all.push(await measure(args.cards));
  }
  const middle = (measured: Measured[], value: (one: Measured) => number) => median(measured.map(value));
  const [ms, floorMs] = [middle(all, (one) => one.ms), middle(all, (one) => one.floorMs)].map(Math.round);
  const growths = all.map(({ growthBytes }, n) =>
    [growthBytes, small[n]!.growthBytes].map((b) => (b / MB).toFixed(1)),
  );
  log(
    `recalculated ${args.cards} applications in ${ms} ms, UPDATE ${floorMs} ms; MB grown: ${growths.join(' / ')}`,
  );
  return [
    under(
      {
        figure: 'recalculation, memory growth beside a small one',
        value: middle(all, (one) => one.growthBytes) / MB,
        unit: 'MB',
        floor: middle(small, (one) => one.growthBytes) / MB,
      },
      1.2,
    ),
    within(
      {
        figure: 'applications computed wrongly',
        value: Math.max(...all.map(({ wrong }) => wrong)),
        unit: 'cards',
      },
      0,
      0,
    ),
  ];
}

/** One formula over all applications and their components, by the job that putting it into force leaves it to. */
export const recalculate = { name: 'recalculate', run };
