import { changeSetting } from '../../domain/app/settings/settings.change.ts';
import { archivePurgeJob } from '../../domain/inventory/cards/archive-purge.job.ts';
import { archivePurgeProcessor } from '../../workers/processors.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { closeAfterAll, openApp } from '../support/harness.ts';
import { ask, untilStatus } from '../support/jobs.ts';

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services, [archivePurgeProcessor]));

const make = async (name: string, more: object = {}) =>
  (await admin.post('/api/v1/cards', { type: 'BusinessCapability', name, ...more })).body.id as string;
const age = (ids: string[], days: number) =>
  db.raw(`update cards set archived_at = now() - make_interval(days => ?) where id = any(?::uuid[])`, [
    days,
    ids,
  ]);
const purge = async () => {
  return (await untilStatus(t.services, await ask(await t.ctx(), archivePurgeJob, {}), 'succeeded')).counts;
};

it('deletes what was archived longer ago than the settings say, with its events, and parts younger children', async () => {
  const parent = await make('Sales');
  const old = await make('Sales abroad', { parent_id: parent });
  const young = await make('Sales at home', { parent_id: parent });
  const active = await make('Marketing');
  await admin.post('/api/v1/relations', {
    type: 'relAppToBC',
    source_id: (await admin.post('/api/v1/cards', { type: 'Application', name: 'Shop' })).body.id,
    target_id: parent,
  });
  await admin.post(`/api/v1/cards/${parent}/archive`, { child_strategy: 'cascade' });
  await age([parent, old], 31);
  await age([young], 29);

  expect(await purge()).toEqual({ deleted: 2 });
  const left = await db('cards').whereIn('id', [parent, old, young, active]).pluck('id');
  expect(left.sort()).toEqual([young, active].sort());
  const { body } = await admin.get(`/api/v1/cards/${young}`);
  expect(body).toMatchObject({ status: 'ARCHIVED', parent_id: null, attributes: { capabilityLevel: 'L1' } });
  const events = await db('events')
    .whereNotNull('job_id')
    .whereIn('event_type', ['card.deleted', 'relation.deleted'])
    .orderBy('position')
    .select('event_type', 'card_id', 'user_id');
  expect(
    events
      .filter(({ event_type }) => event_type === 'card.deleted')
      .map((e) => e.card_id)
      .sort(),
  ).toEqual([parent, old].sort());
  expect(events).toContainEqual(expect.objectContaining({ event_type: 'relation.deleted', user_id: null }));
  // run again, there is nothing left to do
  expect(await purge()).toEqual({ deleted: 0 });
});

it('deletes nothing where the settings say never', async () => {
  const card = await make('Kept');
  await admin.post(`/api/v1/cards/${card}/archive`, {});
  await age([card], 10_000);
  await changeSetting(await t.ctx(), t.services.secrets, 'archive_retention_days', { days: 0 });
  expect(await purge()).toEqual({ deleted: 0 });
  expect((await admin.get(`/api/v1/cards/${card}`)).status).toBe(200);
  await changeSetting(await t.ctx(), t.services.secrets, 'archive_retention_days', { days: 9_999 });
  expect(await purge()).toEqual({ deleted: 1 });
});
