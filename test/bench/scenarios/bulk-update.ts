import type pg from 'pg';
import { timed } from '../harness/database.ts';
import { type Row, under } from '../harness/rows.ts';
import type { Context } from '../harness/scenario.ts';
import { median } from '../harness/stats.ts';

const CARDS = 10_000;
const ROUNDS = 3;

const list = (ids: string[]) => `array['${ids.join("','")}']::uuid[]`;

/** Gives cards back their values past the service, and PostgreSQL the dead rows, so that each round starts alike. */
async function reset(client: pg.Client, ids: string[]): Promise<void> {
  await client.query(
    `update cards set attributes = attributes - 'numberOfUsers', description = 'As it was' where id = any(${list(ids)})`,
  );
  await client.query('vacuum analyze cards');
}

/**
 * Milliseconds in which PostgreSQL makes the same change in one UPDATE, and writes one audit row of the same JSON for
 * each card, in one transaction.
 */
async function measureFloor(client: pg.Client, ids: string[], position: string): Promise<number> {
  // the rows that the service itself has written for these cards
  await client.query(
    `create temp table audit as
     select event_type, scope, user_id, card_id, card_type, batch_id, request_id, origin, cost_keys, data
     from events where position > ${position} and card_id = any(${list(ids)})`,
  );
  await client.query('begin');
  const updating = await timed(
    client,
    `update cards c set description = v.description, attributes = v.attributes, data_quality = v.data_quality,
       approval_status = v.approval_status, updated_by = null, updated_at = clock_timestamp()
     from (select id, 'Floor' as description, attributes || '{"numberOfUsers": 7}' as attributes,
             data_quality, approval_status from cards where id = any(${list(ids)})) v
     where v.id = c.id`,
  );
  const auditing = await timed(
    client,
    `insert into events (position, event_type, scope, user_id, card_id, card_type, batch_id, request_id, origin,
       cost_keys, data)
     select nextval('events_position_seq'), event_type, scope, user_id, card_id, card_type, batch_id, request_id, origin,
       cost_keys, data from audit`,
  );
  const committing = await timed(client, 'commit');
  await client.query('drop table audit');
  return updating + auditing + committing;
}

async function run({ service, client, loadLandscape, log }: Context): Promise<Row[]> {
  await loadLandscape();
  const { rows } = await client.query<{ id: string }>(
    `select id from cards where type = 'Application' and status = 'ACTIVE' order by md5(id::text) limit $1`,
    [CARDS],
  );
  const ids = rows.map(({ id }) => id);
  if (ids.length < CARDS) log(`only ${ids.length} cards to update`);
  const values: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await reset(client, ids);
    const { rows: newest } = await client.query('select max(position) as position from events');
    const updates = { description: `Round ${round}`, attributes: { numberOfUsers: 7 } };
    const start = performance.now();
    const answer = await service.api.patch<{ updated: number }>('/cards/bulk', { ids, updates });
    values.push(performance.now() - start);
    if (answer.updated !== ids.length)
      throw new Error(`${answer.updated} of ${ids.length} cards were updated`);
    await reset(client, ids);
    floors.push(await measureFloor(client, ids, newest[0].position));
  }
  const floor = median(floors);
  return [under({ figure: 'bulk update of 10,000 cards', value: median(values), unit: 'ms', floor }, 3)];
}

/** One change to many cards over HTTP, beside the same change and its audit rows in plain SQL. */
export const bulkUpdate = { name: 'bulk-update', run };
