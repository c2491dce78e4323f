import { loadDemo } from '../../domain/app/demo/demo.load.ts';
import { workspaceWide } from '../domain/app/batches/acts/all.ts';
import { createHand, type Tally } from '../domain/app/batches/acts/hand.ts';
import type { TestApp } from './harness.ts';

const acts = workspaceWide
  .flat()
  .map(([act]) => act)
  // what takes something away leaves less to look at
  .filter((act) => !act.removes && !/^(?:delete|remove)/.test(act.name));

/** The demo with writes of every kind on top of it, so that every table of the workspace has rows. */
export async function fillWorkspace(t: TestApp, writes = 3 * acts.length, seed = 8): Promise<void> {
  await loadDemo(await t.ctx(), '2026-01-15');
  const admin = await t.as('admin');
  const people = [admin.userId, (await t.as('member')).userId, (await t.as('viewer')).userId];
  const tally: Tally = { done: 0, refused: 0, last: '' };
  const hand = createHand(t, admin, people, seed, tally, () => ({}));
  for (let n = 0; n < writes; n += 1) await acts[n % acts.length]!(hand);
  await t.services.db.raw(`insert into reference_catalogues (kind, catalogue_version, source, nodes)
     values ('capability', '1', 'here', '[{"id": "C-1", "parent_id": null, "level": 1,
       "names": {"en": "One"}, "descriptions": {}, "industry": "cross-industry"}]');
     insert into bookmarks (owner_id, name, filters) select id, 'View', '{"types": ["Application"]}' from users limit 1;
     insert into saved_reports (owner_id, name, report_type, config, shared_with)
       select id, 'Report', 'cost', '{}', jsonb_build_array(id) from users limit 1;
     insert into duplicate_decisions (id, card_type, left_id, right_id, decision, left_facts, right_facts, score)
       select uuidv7(), 'Application', '00000000-0000-4000-8000-000000000000', id, 'dismissed', 'a', 'b', 0.1 + 0.2
       from cards limit 1;
     insert into modernization_decisions (card_id, modernization_type, status)
       select id, 'retire', 'accepted' from cards limit 1;
     insert into assessments (title, requirement, session_data) values ('Plan', 'Less', '{"n": 12345678901234567890.5}');
     insert into documents (card_id, name, url, type)
       select id, 'Manual', 'https://estate.example/manual', 'documentation' from cards limit 1;
     insert into web_portals (name, slug, card_type) values ('Open', 'open', 'Application');
     insert into soaws (name, series_id) values ('Statement', uuidv7());
     insert into adr_cards (adr_id, card_id) select a.id, c.id from adrs a, cards c limit 1 on conflict do nothing;
     insert into diagram_cards (diagram_id, card_id) select d.id, c.id from diagrams d, cards c limit 1 on conflict do nothing;
     with card as (select id from cards where type = 'Initiative' limit 1),
       one as (insert into ppm_tasks (card_id, title, status, priority) select id, 'A', 'todo', 'low' from card returning *),
       two as (insert into ppm_tasks (card_id, title, status, priority) select id, 'B', 'todo', 'low' from card returning *)
     insert into ppm_dependencies (card_id, pred_task_id, succ_task_id) select one.card_id, one.id, two.id from one, two;`);
}
