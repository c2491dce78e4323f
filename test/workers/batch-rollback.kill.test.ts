// @redis
import { command } from '../../domain/kernel/command.ts';
import { query } from '../../platform/database.ts';
import { openApp } from '../support/harness.ts';
import { jobRow, killableWorkers, killWorker, survivingWorker, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const CARDS = 2_500;
const url = '/api/v1/mutation-batches';

const start = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

const { t, db, admin } = await openApp(['admin']);

/** A batch that gave thousands of cards a description. */
async function largeBatch(): Promise<string> {
  const ctx = await t.ctx();
  await command(ctx, async ({ sql, emit }) => {
    const { rows } = await sql.raw(`update cards set description = 'New', data_quality = 4
        returning id, name`);
    for (const { id, name } of rows) {
      const changes = { description: { old: 'Old', new: 'New' } };
      emit({
        event_type: 'card.updated',
        card_id: id,
        card_type: 'Application',
        data: { id, name, type: 'Application', changes },
      });
    }
  });
  return ctx.batch.id;
}

const described = () => db('cards').select('description').count({ count: '*' }).groupBy('description');

it('a worker that dies in the middle of a rollback leaves it to another, and nothing is undone twice', async () => {
  await query(db).run`insert into cards (type, name, description, data_quality)
     select 'Application', 'Card ' || n, 'Old', 4 from generate_series(1, ${CARDS}) n`;
  const batch = await largeBatch();

  const asked = await admin.post(`${url}/${batch}/rollback`, {});
  expect(asked.status, asked.text).toBe(202);
  const first = await start();
  const dry = await untilStatus(t.services, asked.body.job_id, 'succeeded');
  expect(dry.result).toMatchObject({ dry_run: true, conflicts: [], left: [] });
  expect(dry.counts).toEqual({ undone: CARDS, left: 0 });
  const id: string = (await admin.post(`${url}/${batch}/rollback`, { dry_run: false })).body.job_id;
  await until('some pages to be undone', async () => (await jobRow(t.services, id)).progress > 0);
  await killWorker(t.services, first);
  const cut = await jobRow(t.services, id);
  if (cut.status === 'running') expect(await described()).toEqual([{ description: 'New', count: CARDS }]);
  await goOn();
  const done = await untilStatus(t.services, id, 'succeeded');
  expect(done.counts).toEqual(dry.counts);
  expect(done.result).toMatchObject({ ...dry.result, dry_run: false });
  expect(await described()).toEqual([{ description: 'Old', count: CARDS }]);
  const rows = await query(db).rows`
     select count(*)::int as events, count(distinct card_id)::int as cards from events
     where batch_id = ${id} and event_type = 'card.updated' and data #> '{changes,description}' is not null`;
  expect(rows).toEqual([{ events: CARDS, cards: CARDS }]);
  expect((await admin.get(`${url}/${batch}`)).body.rolled_back_by).toBe(id);
});
