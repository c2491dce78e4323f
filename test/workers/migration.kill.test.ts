// @redis
import { upload } from '../api/migration/migration.fixture.ts';
import type { Child } from '../support/child.ts';
import { openApp } from '../support/harness.ts';
import type { JobRow } from '../support/jobs.ts';
import { jobRow, killableWorkers, killWorker, survivingWorker, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';
import { workbook } from '../support/workbook.ts';
import { processors } from './fixtures/small-migrations.processors.ts';

const ROWS = 600;
const url = '/api/v1/migration';

const start = killableWorkers(() => t.services, 'test/workers/fixtures/small-migrations.processors.ts');
const goOn = survivingWorker(() => t.services, processors);

const { t, db, admin } = await openApp(['admin']);

let worker: Child | undefined;

/** Kills the worker of a job each time that it has got on so far, and lets another, which `next` starts, go on. */
async function killAt(job: string, places: ((row: JobRow) => boolean)[], next: () => Promise<unknown>) {
  for (const place of places) {
    worker ??= await start();
    await until('the job to get on', async () => place(await jobRow(t.services, job)));
    await killWorker(t.services, worker);
    worker = undefined;
    expect((await jobRow(t.services, job)).status).toBe('running');
  }
  await next();
  return await untilStatus(t.services, job, 'succeeded', 90_000);
}
const stage = (row: JobRow) =>
  (row.checkpoint ?? {}) as { stage?: string; kind?: string; batch?: number; line?: number };

it('a migration whose workers are killed writes everything once, and says so of every record', async () => {
  const each = <T>(row: (n: number) => T): T[] => Array.from({ length: ROWS }, (_, n) => row(n));
  const book = await workbook({
    Applications: [
      ['id', 'name', 'parent', 'tags', 'relAppSuccessor'],
      ...each((n) => {
        const parent = n % 10 === 0 ? null : `C-${n - (n % 10)}`;
        return [`C-${n}`, `Card ${n}`, parent, `Phase: ${n % 3}`, `C-${(n + 1) % ROWS}`];
      }),
    ],
    Links: [['card', 'url'], ...each((n) => [`C-${n}`, `https://wiki.example.com/${n}`])],
    Comments: [
      ['card', 'message', 'reply message'],
      ['C-0', 'A question', 'An answer'],
    ],
  });
  const made = await upload(admin, book, { source_key: 'sheet', fileName: 'all.xlsx' });
  expect(made.status, made.text).toBe(201);
  const id = made.body.id;
  await killAt(
    made.body.job_id,
    [({ status }) => status === 'running', (row) => stage(row).stage === 'stage'],
    async () => {
      worker = await start();
    },
  );
  expect((await admin.get(`${url}/${id}`)).body.stats.records).toMatchObject({
    card: { create: ROWS },
    relation: { create: ROWS },
    card_tag: { create: ROWS },
    tag: { create: 3 },
  });

  const { body } = await admin.post(`${url}/${id}/apply`);
  const done = await killAt(
    body.job_id,
    [
      (row) => stage(row).kind === 'cards' && (stage(row).batch ?? 0) > 3,
      (row) => stage(row).kind === 'relations' && (stage(row).batch ?? 0) > 3,
      (row) => stage(row).stage === 'attached' && (stage(row).line ?? 0) > 0,
    ],
    goOn,
  );
  expect(done.counts).toEqual({ total: 3 * ROWS + 2, applied: 3 * ROWS + 2, failed: 0, left_out: 0 });
  const { rows } = await db.raw(`
       select (select count(*) from cards)::int as cards, (select count(*) from relations)::int as relations,
       (select count(*) from card_tags)::int as tags, (select count(distinct card_id) from documents)::int as links,
       (select count(*) from comments)::int as comments,
       (select count(*) from events where event_type = 'document.added')::int as told_links, (select count(*) from cards where parent_id is not null)::int as children,
       (select count(*) from events where event_type = 'card.created')::int as told_cards,
       (select count(*) from events where event_type = 'relation.created')::int as told_relations,
       (select count(*) from events where event_type = 'migration.applied')::int as told,
       (select count(*) from migration_records where status = 'pending' and action = 'create')::int as open,
       (select count(*) from import_card_rows)::int + (select count(*) from import_outcomes)::int as kept`);
  expect(rows[0]).toEqual({
    cards: ROWS,
    relations: ROWS,
    tags: ROWS,
    links: ROWS,
    comments: 2,
    told_links: ROWS,
    children: ROWS - ROWS / 10,
    told_cards: ROWS,
    told_relations: ROWS,
    told: 1,
    open: 0,
    kept: 0,
  });
}, 200_000);
