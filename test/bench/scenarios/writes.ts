import { type Job, runJob, untilDone } from '../harness/api.ts';
import { measureCopy } from '../harness/copy-baseline.ts';
import { cardIds, meanCopyLine } from '../harness/database.ts';
import { median, sampleGrowth, timed } from '../harness/measure.ts';
import { under, within } from '../harness/rows.ts';
import type { Context, Scenario } from '../harness/scenario.ts';
import { startService } from '../harness/service.ts';
import { loadLandscape, smallSize } from '../harness/workspace.ts';

/** So many services of each size, since what a garbage collector leaves differs from process to process. */
const SERVICES = 3;

/** How many of the newest cards neither the list nor the search shows. */
async function countMissing({ api, client }: Context): Promise<number> {
  const { rows } = await client.query<{ id: string; name: string; total: number }>(`
     select id, name, (select count(*)::int from cards where status = 'ACTIVE') as total
     from cards where status = 'ACTIVE' order by id desc limit 5`);
  const { total } = await api.get<{ total: number }>('/cards?status=ACTIVE&page_size=1');
  let count = Math.abs(total - rows[0]!.total);
  for (const { id, name } of rows) {
    const path = `/cards?page_size=50&search=${encodeURIComponent(name)}`;
    const { items } = await api.get<{ items: { id: string }[] }>(path);
    if (!items.some((card) => card.id === id)) count += 1;
  }
  return count;
}

/** All cards and relations from files over HTTP to finished jobs. */
export const importAll: Scenario = {
  name: 'import',
  loadsItself: true,
  async run(context) {
    const { client, args, log } = context;
    const { cardsMs, relationsMs, growth } = await context.loadLandscape();
    const missing = await countMissing(context);
    log(`cards in ${Math.round(cardsMs)} ms, relations in ${Math.round(relationsMs)} ms`);
    const baseline = await measureCopy(client);
    const growthOf = async (cards: number, relations: number): Promise<number> => {
      await using service = await startService();
      return (await loadLandscape(service, { ...args, cards, relations })).growth;
    };
    const few = smallSize(args.cards);
    const small = [await growthOf(few, few * 3)];
    const all = [growth];
    while (all.length < SERVICES) {
      all.push(await growthOf(args.cards, args.relations));
      small.push(await growthOf(few, few * 3));
    }
    log(`MB grown: ${all.map((mb, n) => `${mb.toFixed(1)} / ${small[n]!.toFixed(1)}`).join(', ')}`);
    return [
      under('import of all', cardsMs + relationsMs, 'ms', 6, baseline),
      under('import, memory growth', Math.max(...all), 'MB', 200),
      under('import, memory growth beside a small one', median(all), 'MB', 1.2, median(small)),
      within('cards not listed or found after it', missing, 'cards', 0),
    ];
  },
};

/** Whether the landscape in the database has the shape that all other figures depend on. */
export const landscape: Scenario = {
  name: 'landscape',
  async run({ client, args }) {
    const { rows } = await client.query<{
      cards: number;
      relations: number;
      archived: number;
    }>(`select (select count(*)::int from cards) as cards,
              (select count(*)::int from relations) as relations,
              (select count(*)::int from cards where status = 'ARCHIVED') as archived`);
    const { cards, relations, archived } = rows[0]!;
    return [
      within('cards', cards, '', args.cards),
      within('relations', relations, '', args.relations),
      within('archived', (archived / cards) * 100, '%', 4, 6),
      within('mean COPY line', await meanCopyLine(client), 'bytes', 550, 750),
    ];
  },
};

const UPDATED = 10_000;
const ROUNDS = 3;

/** One change to many cards over HTTP, compared with the same change and its audit rows in plain SQL. */
export const bulkUpdate: Scenario = {
  name: 'bulk-update',
  async run({ api, client, log }) {
    const ids = await cardIds(client, 'Application', UPDATED);
    if (ids.length < UPDATED) log(`only ${ids.length} cards to update`);
    const list = `array['${ids.join("','")}']::uuid[]`;
    /** Gives cards back their values past the service, and PostgreSQL the dead rows, so that each round starts alike. */
    const reset = async () => {
      await client.query(
        `update cards set attributes = attributes - 'numberOfUsers', description = 'As it was' where id = any(${list})`,
      );
      await client.query('vacuum analyze cards');
    };
    const values: number[] = [];
    const baselines: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await reset();
      const { rows } = await client.query('select max(position) as position from events');
      const updates = { description: `Round ${round}`, attributes: { numberOfUsers: 7 } };
      let updated = 0;
      values.push(
        await timed(async () => {
          ({ updated } = await api.patch<{ updated: number }>('/cards/bulk', { ids, updates }));
        }),
      );
      if (updated !== ids.length) throw new Error(`${updated} of ${ids.length} cards were updated`);
      await reset();
      // the audit rows that the service itself has written for these cards
      await client.query(`create temp table audit as
         select event_type, scope, user_id, card_id, card_type, batch_id, request_id, origin, cost_keys, data
         from events where position > ${rows[0].position} and card_id = any(${list})`);
      await client.query('begin');
      baselines.push(
        await timed(async () => {
          await client.query(`
               update cards c set description = v.description, attributes = v.attributes, data_quality = v.data_quality,
               approval_status = v.approval_status, updated_by = null, updated_at = clock_timestamp()
             from (select id, 'Baseline' as description, attributes || '{"numberOfUsers": 7}' as attributes,
                     data_quality, approval_status from cards where id = any(${list})) v
             where v.id = c.id`);
          await client.query(`
               insert into events (position, event_type, scope, user_id, card_id, card_type, batch_id, request_id, origin,
               cost_keys, data)
             select nextval('events_position_seq'), event_type, scope, user_id, card_id, card_type, batch_id, request_id,
               origin, cost_keys, data from audit`);
          await client.query('commit');
        }),
      );
      await client.query('drop table audit');
    }
    return [under('bulk update of 10,000 cards', median(values), 'ms', 3, median(baselines))];
  },
};

/** An import of all cards rolled back by a job, compared with the import itself; on a service of its own. */
export const rollback: Scenario = {
  name: 'rollback',
  loadsItself: true,
  async run({ args }) {
    await using service = await startService();
    const { api, client, pid } = service;
    const imported = await loadLandscape(service, { ...args, relations: 0 });
    const stop = sampleGrowth(pid);
    const roll = (dry_run: boolean) =>
      runJob(api, `/mutation-batches/${imported.jobId}/rollback`, { dry_run });
    const tried = await roll(true);
    const done = await roll(false);
    const growth = stop();
    const { rows } = await client.query<{ left: number }>('select count(*)::int as left from cards');
    const counts = ({ job }: { job: Job }) => JSON.stringify(job.counts);
    const differences = rows[0]!.left + (counts(tried) === counts(done) ? 0 : 1);
    const figure = 'rollback of the import of all cards';
    return [
      under(`${figure}, tried`, tried.seconds * 1_000, 'ms', 4, imported.cardsMs),
      under(figure, done.seconds * 1_000, 'ms', 4, imported.cardsMs),
      under('rollback, memory growth', growth, 'MB', 200),
      within('cards left, and counts that differ', differences, '', 0),
    ];
  },
};

/** Fewer are computed with the request itself. */
const LEAST_BY_JOB = 2_500;
const FORMULA = 'ROUND(SUM(PLUCK(relations.relAppToITC, "attributes.costTotalAnnual")) * 1.2, 2)';

/**
 * Activates a formula over relations in a new service with so many applications, and waits for its job.
 * @returns milliseconds, megabytes grown, applications with a wrong value, and milliseconds of one UPDATE of PostgreSQL.
 */
async function recalculateAll(applications: number) {
  await using service = await startService();
  const { api, client, pid } = service;
  await client.query(`insert into cards (type, name, attributes, data_quality)
     select 'ITComponent', 'Component ' || n, jsonb_build_object('costTotalAnnual', n), 0 from generate_series(1, 1000) n
     union all
     select 'Application', 'Application ' || n, '{"businessCriticality": "high"}', 0
     from generate_series(1, ${applications}) n`);
  await client.query(`
       with app as (select id, row_number() over (order by id) as n from cards where type = 'Application'),
       component as (select id, row_number() over (order by id) as n from cards where type = 'ITComponent')
     insert into relations (type, source_id, target_id, attributes)
     select 'relAppToITC', app.id, component.id, '{}' from app
     cross join generate_series(0, 2) k join component on component.n = (app.n * 7 + k * 13) % 1000 + 1`);
  await client.query('vacuum analyze');
  const { id } = await api.post<{ id: string }>('/calculations', {
    name: 'Cost of components',
    target_type_key: 'Application',
    target_field_key: 'costTotalAnnual',
    formula: FORMULA,
  });
  const stop = sampleGrowth(pid);
  const ms = await timed(async () => {
    await api.post(`/calculations/${id}/activate`, {});
    const { items } = await api.get<{ items: Job[] }>('/jobs?kind=recalculate');
    await untilDone(api, items[0]!.id);
  });
  const growth = stop();
  const values = `select a.id, round(sum(coalesce((c.attributes ->> 'costTotalAnnual')::numeric, 0)) * 1.2, 2) as value
    from cards a join relations r on r.source_id = a.id join cards c on c.id = r.target_id
    where a.type = 'Application' group by a.id`;
  const { rows } = await client.query<{ wrong: number }>(`
     select count(*)::int as wrong from cards a left join (${values}) v on v.id = a.id
     where a.type = 'Application' and (a.attributes ->> 'costTotalAnnual')::numeric is distinct from v.value`);
  const updateMs = await timed(() =>
    client.query(`
       update cards c set attributes = c.attributes || jsonb_build_object('costTotalAnnual', v.value), updated_at = now()
       from (${values}) v where v.id = c.id`),
  );
  return { ms, growth, wrong: rows[0]!.wrong, updateMs };
}

/** One formula over all applications and their components, by the job of its activation. */
export const recalculate: Scenario = {
  name: 'recalculate',
  loadsItself: true,
  async run({ args, log }) {
    const small: Awaited<ReturnType<typeof recalculateAll>>[] = [];
    const all: typeof small = [];
    while (all.length < SERVICES) {
      small.push(await recalculateAll(Math.max(LEAST_BY_JOB, smallSize(args.cards))));
      all.push(await recalculateAll(Math.max(LEAST_BY_JOB, args.cards)));
    }
    const middle = (runs: typeof all, key: 'ms' | 'growth' | 'updateMs') =>
      median(runs.map((run) => run[key]));
    const [ms, updateMs] = [middle(all, 'ms'), middle(all, 'updateMs')].map(Math.round);
    log(`recalculated ${args.cards} applications in ${ms} ms, UPDATE ${updateMs} ms`);
    const wrong = Math.max(...all.map((run) => run.wrong));
    const grown = 'recalculation, memory growth beside a small one';
    return [
      under(grown, middle(all, 'growth'), 'MB', 1.2, middle(small, 'growth')),
      within('applications computed wrongly', wrong, 'cards', 0),
    ];
  },
};
