import { expect, it } from 'vitest';
import { cleanUp } from '../../../../domain/app/housekeeping.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const t = closeAfterAll(await createTestServices());

it('notifications go when the settings say, and mails after a month', async () => {
  const { db, blobs } = t.services;
  const [{ id }] = await db('users')
    .insert({ email: 'ann@estate.example', display_name: 'Ann', role: 'viewer' })
    .returning('id');
  const days = (count: number) => db.raw('now() - make_interval(days => ?::int)', [count]);
  const told = [1, 179, 181, 400].map((age) => ({
    user_id: id,
    type: 'card_updated',
    title: `${age}`,
    message: 'M',
    event_position: age,
    created_at: days(age),
  }));
  await db('notifications').insert(told);
  await db('mails').insert([29, 31].map((age) => ({ recipient: `a@${age}.example`, created_at: days(age) })));
  const signal = new AbortController().signal;
  expect(await cleanUp(db, blobs, signal)).toMatchObject({ notifications: 2, mails: 1 });
  expect((await db('notifications').pluck('title')).sort()).toEqual(['1', '179']);
  expect(await db('mails').pluck('recipient')).toEqual(['a@29.example']);
  await db('settings').insert({ key: 'workspace.retention', value: '{"notifications_days":30}' });
  expect(await cleanUp(db, blobs, signal)).toMatchObject({ notifications: 1, mails: 0 });
});
