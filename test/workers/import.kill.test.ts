// @redis

import type { ImportOptions } from '../../domain/exchange/imports/imports.run.ts';
import { removeStale } from '../../domain/exchange/imports/imports.staged.clean.ts';
import type { Child } from '../support/child.ts';
import { closeAfterAll, createTestServices, type TestServices } from '../support/harness.ts';
import { askImport, type Imported, importResult, ndjson } from '../support/imports.ts';
import { jobRow, killableWorkers, killWorker, survivingWorker } from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { processors } from './fixtures/small-imports.processors.ts';

const start = killableWorkers(() => disturbed.services, 'test/workers/fixtures/small-imports.processors.ts');
const leaveAlone = survivingWorker(() => undisturbed.services, processors);
const goOn = survivingWorker(() => disturbed.services, processors);

async function createServices(): Promise<TestServices> {
  const t = await createTestServices();
  await t.services.db.raw(`with g as (insert into tag_groups (name) values ('Group') returning id)
     insert into tags (tag_group_id, name) select id, 'One' from g;
     insert into users (email, display_name, role) values ('ann@estate.example', 'Ann', 'member')`);
  return t;
}

const undisturbed = closeAfterAll(await createServices());
const disturbed = closeAfterAll(await createServices());

const ROWS = 400;

/** Cards of which some have children, tags, people or faults; `round` changes what they say. */
function cards(round: number): object[] {
  return Array.from({ length: ROWS }, (_, n) => ({
    type: 'BusinessCapability',
    external_id: `C-${n}`,
    name: n % 50 === 7 && round === 1 ? `Card ${n - 1}` : `Card ${n}`,
    ...(n % 10 === 0 ? {} : { parent_external_id: `C-${n % 100 === 99 ? 'none' : n - (n % 10)}` }),
    description: `Round ${n % 3 === 0 ? round : 0}`,
    ...(n % 4 === 0 ? { tags: ['Group/One'] } : {}),
    ...(n % 6 === 0 ? { stakeholders: ['responsible:ann@estate.example'] } : {}),
  }));
}

const relations = Array.from({ length: ROWS }, (_, n) => ({
  type: 'relObjectiveToBC',
  source_external_id: `O-${n % 40}`,
  target_external_id: `C-${n}`,
}));
const objectives = Array.from({ length: 40 }, (_, n) => ({
  type: 'Objective',
  external_id: `O-${n}`,
  name: `O ${n}`,
}));

const files: { rows: object[]; options: Partial<ImportOptions>; kills: number }[] = [
  { rows: objectives, options: {}, kills: 0 },
  { rows: cards(1), options: {}, kills: 2 },
  { rows: cards(2), options: { mode: 'upsert', dry_run: true }, kills: 1 },
  { rows: cards(2), options: { mode: 'upsert' }, kills: 1 },
  { rows: relations, options: { kind: 'relations' }, kills: 2 },
  { rows: cards(3).slice(0, 60), options: { mode: 'upsert', atomic: true }, kills: 1 },
];

/** All that the imports wrote, without ids and times, which differ from run to run. */
async function written({ services: { db } }: TestServices): Promise<Record<string, unknown[]>> {
  const rows = async (sql: string): Promise<unknown[]> => (await db.raw(sql)).rows;
  return {
    cards: await rows(`
         select c.external_id, c.name, c.description, c.attributes, c.status, c.data_quality, p.external_id as parent,
         array(select t.name from card_tags k join tags t on t.id = k.tag_id where k.card_id = c.id) as tags,
         array(select s.role from stakeholders s where s.card_id = c.id) as roles
       from cards c left join cards p on p.id = c.parent_id order by c.type, c.external_id`),
    relations: await rows(`select r.type, s.external_id as source, t.external_id as target from relations r
       join cards s on s.id = r.source_id join cards t on t.id = r.target_id order by 1, 2, 3`),
    events: await rows(`select e.event_type, e.data ->> 'name' as name, e.data ->> 'target_name' as target,
         array(select jsonb_object_keys(e.data -> 'changes') order by 1) as fields, count(*)::int
       from events e where e.event_type <> 'import.started' and e.scope <> 'user' group by 1, 2, 3, 4 order by 1, 2, 3, 4`),
    staged: await rows(`select job_id from import_card_rows union select job_id from import_relation_rows
       union select job_id from import_card_plan union select job_id from import_relation_plan
       union select job_id from import_outcomes union select job_id from import_warnings`),
  };
}

const outcome = ({ job, report }: Imported) => ({
  counts: job.counts,
  message: job.message,
  // ids of cards differ from run to run
  report: report.map((line) => JSON.stringify(line).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')),
});

it('an import whose worker is killed ends as if it never had been', async () => {
  await leaveAlone();
  const expected: unknown[] = [];
  for (const { rows, options } of files) {
    const id = await ask(undisturbed, rows, options);
    expected.push(outcome(await importResult(undisturbed.services, id, 120_000)));
  }

  let left = files.reduce((sum, { kills }) => sum + kills, 0);
  const seen: unknown[] = [];
  let worker: Child = await start();
  for (const { rows, options, kills } of files) {
    const id = await ask(disturbed, rows, options);
    for (let kill = 0; kill < kills; kill += 1) {
      const before = await jobRow(disturbed.services, id);
      await until('the import to go on', async () => {
        const row = await jobRow(disturbed.services, id);
        // the first time as soon as it runs, then further and further in
        return (
          row.status === 'succeeded' ||
          (kill === 0 ? row.status === 'running' : row.progress > before.progress)
        );
      });
      await killWorker(disturbed.services, worker);
      left -= 1;
      if (left > 0) worker = await start();
      else await goOn();
    }
    const result = await importResult(disturbed.services, id, 120_000);
    expect(result.job.crashes).toBeLessThanOrEqual(kills);
    seen.push(outcome(result));
  }

  expect(seen).toEqual(expected);
  // what a worker left that was killed just after the end goes with the clean-up
  await removeStale(disturbed.services.db);
  await removeStale(undisturbed.services.db);
  const [one, other] = [await written(undisturbed), await written(disturbed)];
  for (const table of Object.keys(one)) expect(other[table], table).toEqual(one[table]);
  expect(one.cards!.length).toBeGreaterThan(0.9 * ROWS);
}, 400_000);

async function ask(t: TestServices, rows: object[], options: Partial<ImportOptions>): Promise<string> {
  return await askImport(await t.ctx(), t.services, ndjson(rows), {
    format: 'ndjson',
    report: 'all',
    ...options,
  });
}
