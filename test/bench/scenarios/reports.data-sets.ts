import type pg from 'pg';
import { cardIds } from '../harness/database.ts';

const TASKS = 5_000;
const ITEMS = 250;

/** Stores costs and reports of all initiatives, and one plan with all tasks. @returns its initiative. */
export async function makePlan(client: pg.Client) {
  const [id] = await cardIds(client, 'Initiative', 1);
  await client.query(`
     insert into ppm_reports (card_id, report_date, schedule_health, cost_health, scope_health, summary)
     select c.id, date '2026-01-31' + 30 * n, 'onTrack', 'atRisk', 'onTrack', 'As planned.'
     from cards c, generate_series(1, 3) n where c.type = 'Initiative'`);
  await client.query(`insert into ppm_cost_lines (card_id, description, category, planned, actual, date)
     select c.id, 'Line ' || n, (array['capex', 'opex'])[1 + n % 2], 100 * n, 80 * n, date '2026-01-01' + 20 * n
     from cards c, generate_series(1, 6) n where c.type = 'Initiative'`);
  await client.query(
    `insert into ppm_wbs (id, card_id, title, sort_order)
     select md5('item' || n)::uuid, $1, 'Item ' || n, n from generate_series(1, ${ITEMS}) n`,
    [id],
  );
  await client.query(
    `insert into ppm_tasks (id, card_id, title, status, priority, wbs_id, start_date, due_date)
     select md5('task' || n)::uuid, $1, 'Task ' || n, 'todo', 'medium', md5('item' || 1 + n % ${ITEMS})::uuid,
       date '2026-01-01' + n % 300, date '2026-01-01' + n % 300 + 1 + n % 20
     from generate_series(1, ${TASKS}) n`,
    [id],
  );
  // each task after two earlier ones of its item, and items in chains of five
  await client.query(
    `insert into ppm_dependencies (card_id, pred_task_id, succ_task_id)
     select $1, md5('task' || n - back)::uuid, md5('task' || n)::uuid
     from generate_series(1, ${TASKS}) n, unnest(array[${ITEMS}, ${2 * ITEMS}]) back where n > back`,
    [id],
  );
  await client.query(
    `insert into ppm_dependencies (card_id, pred_wbs_id, succ_wbs_id)
     select $1, md5('item' || n)::uuid, md5('item' || n + 1)::uuid from generate_series(1, ${ITEMS - 1}) n where n % 5 <> 0`,
    [id],
  );
  await client.query('analyze ppm_tasks, ppm_wbs, ppm_dependencies, ppm_cost_lines, ppm_reports');
  return { id, tasks: TASKS, items: ITEMS };
}

/**
 * Writes events as edits make them: two thirds change an attribute and the score of a card, the rest of
 * relations; the rows themselves are changed with them.
 */
export async function writeHistory(client: pg.Client, count: number): Promise<void> {
  await client.query('begin');
  await client.query('set local synchronous_commit = off');
  await client.query(`
    create temp table edits as
    select n, (array['card.updated', 'card.updated', 'relation.updated'])[1 + n % 3] as event_type from generate_series(1, ${count}) n;
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
  await client.query('vacuum analyze cards, relations, events, card_old_values, relation_old_values');
}
