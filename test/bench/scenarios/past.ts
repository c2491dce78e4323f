import type pg from 'pg';
import { openDatabase } from '../../../platform/database.ts';
import { readAsOf } from '../../../reports/kernel/as-of/as-of.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const EVENTS = 200_000;
const ROUNDS = 3;
const reports = [
  'data-quality',
  'cost',
  'roadmap',
  'portfolio',
  'app-portfolio',
  'landscape',
  'capability-heatmap',
  'matrix',
  'cost-treemap',
  'dependencies',
  'eol',
  'stakeholder-directory',
  'dashboard',
  'my-workspace',
  'admin-dashboard',
] as const;

/**
 * Writes events after now as edits make them: two thirds change an attribute and the score of a card, the rest of
 * relations; the rows themselves are changed with them.
 */
async function edit(client: pg.Client): Promise<void> {
  await client.query('begin');
  await client.query('set local synchronous_commit = off');
  await client.query(`
    create temp table edits as
    select n, (array['card.updated', 'card.updated', 'relation.updated'])[1 + n % 3] as event_type from generate_series(1, ${EVENTS}) n;
    create temp table c as select row_number() over (order by md5(id::text)) - 1 as n, id, type, name, data_quality from cards;
    create temp table r as select row_number() over (order by md5(id::text)) - 1 as n, id, type, source_id, target_id from relations;
    create index on c (n);
    create index on r (n);
    analyze c; analyze r; analyze edits;
    insert into events (position, event_type, card_id, card_type, origin, data)
    select nextval('events_position_seq'), e.event_type, c.id, c.type, 'api', jsonb_build_object(
      'id', c.id, 'type', c.type, 'name', c.name, 'changes', jsonb_build_object(
        'data_quality', jsonb_build_object('old', c.data_quality, 'new', 50),
        'attributes.numberOfUsers', jsonb_build_object('old', null, 'new', e.n),
        'description', jsonb_build_object('old', 'As it was before the edit', 'new', 'As it is since')))
    from edits e join c on c.n = (e.n::bigint * 7919) % (select count(*) from cards) where e.event_type = 'card.updated';
    insert into events (position, event_type, card_id, peer_card_id, relation_id, relation_type, origin, data)
    select nextval('events_position_seq'), e.event_type, r.source_id, r.target_id, r.id, r.type, 'api', jsonb_build_object(
      'id', r.id, 'type', r.type, 'source_id', r.source_id, 'target_id', r.target_id, 'changes', jsonb_build_object(
        'description', jsonb_build_object('old', null, 'new', 'Edited')))
    from edits e join r on r.n = (e.n::bigint * 7919) % (select count(*) from relations) where e.event_type = 'relation.updated';
    update cards set attributes = attributes || '{"numberOfUsers": 1}', updated_at = clock_timestamp()
    where id in (select card_id from events where event_type = 'card.updated');
    drop table edits, c, r;
  `);
  await client.query('commit');
  await client.query('vacuum analyze cards');
  await client.query('vacuum analyze relations');
  await client.query('vacuum analyze events');
  await client.query('vacuum analyze card_old_values, relation_old_values');
}

async function times(run: (round: number) => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await run(round);
    taken.push(performance.now() - start);
  }
  return median(taken);
}

async function run({ service, client, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const { rows: first } = await client.query('select clock_timestamp() as now, max(position) from events');
  if (first[0].max === null) await service.api.post('/cards', { type: 'Application', name: 'Written first' });
  const { rows } = await client.query<{ at: Date }>('select clock_timestamp() as at');
  const moment = rows[0]!.at;
  const db = openDatabase({ url: service.databaseUrl, name: 'bench', poolMax: 2 });
  try {
    await edit(client);
    const empty = await times(() => readAsOf(db, moment, async () => undefined));
    log(`the tables as they were stand after ${Math.round(empty)} ms`);
    const found: Row[] = [];
    const { rows: center } = await client.query(
      `select id from cards where type = 'Application' and status = 'ACTIVE' order by md5(id::text) limit 1`,
    );
    const around = `dependencies?center_id=${center[0].id}&depth=2&`;
    const asked = reports.map((report) => [report, `${report}?`]);
    for (const [name, start] of [...asked, ['dependencies around a card', around]]) {
      // another filter each time, and one that is true of all cards: nothing is taken from the cache
      const path = (n: number) => `/reports/${start}filter=${encodeURIComponent(`name != "No card ${n}"`)}`;
      const present = await times((n) => service.api.get(path(n)));
      const past = await times((n) => service.api.get(`${path(n)}&as_of=${moment.toISOString()}`));
      found.push(
        under({ figure: `${name}, ${EVENTS} events ago`, value: past, unit: 'ms', floor: present }, 5),
      );
    }
    return found;
  } finally {
    await db.destroy();
  }
}

/** Reports as of a moment since when much was written, beside the present ones. */
export const past = { name: 'past', run };
