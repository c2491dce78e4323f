// @redis
import { openApp } from '../support/harness.ts';
import { jobRow, killableWorkers, killWorker, survivingWorker, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const CARDS = 6_000;

const start = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

const { t, db, sql, admin } = await openApp(['admin']);

it('a worker that dies while data quality is counted leaves the rest to another, and nothing is written twice', async () => {
  await sql.run`insert into cards (type, name, description, data_quality)
     select 'Application', 'Card ' || n, 'Said.', 99.9 from generate_series(1, ${CARDS}) n`;
  const started = await admin.post('/api/v1/metamodel/types/Application/stakeholder-roles', {
    key: 'steward',
    label: 'Steward',
  });
  const id: string = started.body.job_id;
  const first = await start();
  await until('some cards to be counted', async () => {
    return ((await jobRow(t.services, id)).checkpoint as { scored: number } | null)?.scored;
  });
  await killWorker(t.services, first);
  expect((await jobRow(t.services, id)).status).toBe('running');
  await goOn();
  expect((await untilStatus(t.services, id, 'succeeded')).counts).toEqual({ changed: 0, scored: CARDS });
  const events = await db('events').where({ batch_id: id }).select('event_type', 'card_id');
  expect(events.filter(({ event_type }) => event_type === 'stakeholder_role.created')).toHaveLength(1);
  const cards = events.flatMap(({ card_id }) => card_id ?? []);
  expect([cards.length, new Set(cards).size]).toEqual([CARDS, CARDS]);
  expect(await db('cards').where({ data_quality: 99.9 })).toEqual([]);
});
