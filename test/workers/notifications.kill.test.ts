// @redis
import { command } from '../../domain/kernel/command.ts';
import type { EventDraft } from '../../domain/kernel/events/row-changes.ts';
import { closeAfterAll, createTestServices } from '../support/harness.ts';
import { killableWorkers, survivingWorker } from '../support/jobs.ts';
import { startSmtp, useSmtp } from '../support/smtp.ts';
import { until } from '../support/until.ts';

const CARDS = 300;
const ROUNDS = 12;
/** After each so many rounds a worker is killed. */
const KILL_EVERY = 3;

const start = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

// processes that the test starts inherit it
vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const smtp = closeAfterAll(await startSmtp());
await useSmtp(t.services, smtp.port);

it('followers are told of every change once, by two workers that are killed again and again', async () => {
  const { db } = t.services;
  const followers: string[] = (
    await db('users')
      .insert(
        ['ann', 'bob'].map((name) => ({
          email: `${name}@estate.example`,
          display_name: name,
          role: 'viewer',
          notification_preferences: JSON.stringify({ email: { card_updated: true } }),
        })),
      )
      .returning('id')
  ).map(({ id }) => id);
  await db.raw(
    `with made as (
       insert into cards (type, name) select 'Application', 'Card ' || n from generate_series(1, ${CARDS}) n returning id
     )
     insert into stakeholders (card_id, user_id, role) select id, unnest(?::uuid[]), 'observer' from made`,
    [followers],
  );
  const ids: string[] = await db('cards').pluck('id');
  const draft = (id: string): EventDraft => ({
    event_type: 'card.updated',
    card_id: id,
    card_type: 'Application',
    data: { id, type: 'Application', name: 'Card', changes: { alias: { old: null, new: 'B' } } },
  });

  const running = [await start(), await start()];
  for (let round = 0; round < ROUNDS; round += 1) {
    await command(await t.ctx(), async (work) => {
      for (const id of ids) work.emit(draft(id));
    });
    if ((round + 1) % KILL_EVERY !== 0) continue;
    const victim = running.shift()!;
    victim.kill('SIGKILL');
    await victim.ended();
    const left = (ROUNDS - round - 1) / KILL_EVERY;
    // there are two until the last has been killed; what is not killed itself needs no process of its own
    if (running.length < left) running.push(await start());
    else if (left > 0) await goOn();
  }
  const totals = async () => {
    const { rows } = await db.raw(`select count(*)::int as events,
              (select coalesce(sum(count), 0)::int from notifications) as things,
              (select count(*)::int from notifications where mail_pending) as waiting,
              (select count(*)::int from jobs where kind = 'mail' and status not in ('succeeded', 'failed')) as mails
       from events where event_type = 'card.updated'`);
    return rows[0];
  };
  await until('all to be told', async () => (await totals()).things >= CARDS * ROUNDS * 2);
  await until(
    'the first mails to be sent',
    async () => smtp.mails.length >= 2 && (await totals()).mails === 0,
  );
  expect(await totals()).toMatchObject({ events: CARDS * ROUNDS, things: CARDS * ROUNDS * 2 });
  // each user was told by the first mail at once; the others wait for their time
  expect(smtp.mails.map(({ to }) => to[0]).sort()).toEqual(['ann@estate.example', 'bob@estate.example']);
  const stored = await db('notifications').pluck('id');
  const { rows: created } = await db.raw(`select data ->> 'id' as id from events
      where event_type = 'notification.created'`);
  expect(created.map(({ id }: { id: string }) => id).sort()).toEqual(stored.sort());
}, 240_000);
