// @redis
import { randomUUID } from 'node:crypto';
import { readIdentity } from '../../../domain/access/erasure/erasure.identity.ts';
import type { EraseUserPayload } from '../../../domain/access/erasure/erasure.job.ts';
import { createEraser, pseudonymOf } from '../../../domain/access/erasure/erasure.rules.ts';
import { eraseUser, patternsOf, pseudonymiseEvents } from '../../../domain/access/erasure/erasure.run.ts';
import { feedEnds } from '../../../domain/kernel/events/changes.ts';
import type { RunningJob } from '../../../domain/kernel/jobs/jobs.running.ts';
import { eraseUserProcessor } from '../../../workers/processors.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { bearer, eventsOf, loginAs, person, unthrottled } from '../../support/accounts.ts';
import { closeAfterAll, expectProblem, openApp } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services, [eraseUserProcessor]));

/** Every row of every table as text; the user's own writings are looked at apart. */
async function everything(): Promise<string> {
  const names: string[] = await db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  const parts = await Promise.all(
    names.map(async (name) => {
      return `${name}: ${
        (await db.raw('select coalesce(jsonb_agg(to_jsonb(t)), $$[]$$)::text as text from ?? t', [name]))
          .rows[0].text
      }`;
    }),
  );
  return parts.join('\n');
}

async function erase(id: string) {
  const started = await admin.post(`/api/v1/accounts/${id}/erase`);
  expect([started.status, started.headers.location]).toEqual([202, `/api/v1/jobs/${started.body.job_id}`]);
  return await untilStatus(t.services, started.body.job_id, 'succeeded');
}

it('leaves no trace of name and address, former ones included, in anything the service has written', async () => {
  const word = randomUUID().slice(0, 8);
  const mail = (n: number) => `ada-${word}-${n}@estate.example`;
  const { body: user } = await admin.post('/api/v1/users', {
    email: mail(1),
    display_name: `Ada ${word} Byron`,
    password: 'a quiet horse on the hill',
  });
  const namesake = await person(t, { display_name: `Ada ${word} Lovelace` });
  const url = `/api/v1/users/${user.id}`;
  await admin.patch(url, { email: mail(2) });
  await admin.patch(url, { display_name: `Ada ${word} Lovelace`, email: mail(3) });
  await unthrottled(t);
  const token = bearer((await loginAs(t, { id: user.id, email: mail(3) })).body.access_token);
  await t.anonymous.post('/api/v1/auth/login', { email: mail(3), password: 'wrong' });
  const description = `Ask Ada ${word} Lovelace, ${mail(3)}.`;
  const card = await t.anonymous.post(
    '/api/v1/cards',
    { type: 'Application', name: `Card ${word}`, description },
    token,
  );
  // a name that was mentioned in that of a card
  const mention = await admin.post('/api/v1/cards', {
    type: 'Application',
    name: `Of @[Ada ${word} Byron](user:${user.id})`,
  });
  await admin.patch(`/api/v1/cards/${mention.body.id}`, { name: `Of nobody ${word}` });
  const api = await t.anonymous.post('/api/v1/tokens', { name: 'Mine' }, token);
  const at = `/api/v1/cards/${card.body.id}`;
  await admin.post(`${at}/stakeholders`, { user_id: user.id, role: 'responsible' });
  const content = `Thanks, @[Ada ${word} Lovelace](user:${user.id})!`;
  await admin.create(`${at}/comments`, { content });
  await db('notifications').insert([
    {
      user_id: admin.userId,
      actor_id: user.id,
      type: 'card_updated',
      title: 'A card was changed',
      message: `Ada ${word} Lovelace changed Card ${word}`,
      event_position: 1,
    },
    {
      user_id: admin.userId,
      actor_id: namesake.id,
      type: 'card_updated',
      title: 'A card was changed',
      message: `Ada ${word} Lovelace changed it`,
      event_position: 2,
    },
  ]);
  await db('mails').insert({ recipient: mail(3), outcome: 'sent', finished_at: new Date() });

  const job = await erase(user.id);
  const p = pseudonymOf(user.id);
  expect(job.result).toEqual({ user_id: user.id, pseudonym: p.name });
  const found = await everything();
  for (const email of [1, 2].map(mail)) expect(found).not.toContain(email);
  // what the user has written in the card is not ours to change; it stands in the card and in its event
  expect(found.split(mail(3)).length - 1).toBe(found.split(description).length - 1);
  expect(found).not.toContain(`Ada ${word} Byron`);
  const named = found
    .split('\n')
    .flatMap((line) => (line.includes(`Ada ${word} Lovelace`) ? [line.split(':')[0]] : []));
  expect(named.sort()).toEqual(['cards', 'events', 'notifications', 'users']);

  const { body } = await admin.get(url);
  expect(body).toMatchObject({ email: p.email, display_name: p.name, is_active: false, has_password: false });
  await expectProblem(t.anonymous.get('/api/v1/auth/me', token), 401);
  await expectProblem(t.anonymous.get('/api/v1/auth/me', bearer(api.body.token)), 401);
  const comments = await admin.get(`${at}/comments`);
  expect(comments.body.items[0].content).toBe(`Thanks, @[${p.name}](user:${user.id})!`);
  const [first, second] = await db('notifications').orderBy('event_position');
  expect(first.message).toBe(`${p.name} changed Card ${word}`);
  expect(second.message, 'somebody else of the same name').toBe(`Ada ${word} Lovelace changed it`);
  expect((await admin.get(`${at}/history`)).body.items.at(-1).user_display_name).toBe(p.name);
  const logins = await db('events').where({ event_type: 'auth.login', user_id: user.id });
  expect(logins.at(-1)!.data).toMatchObject({ email: p.email, address: null });
  expect((await eventsOf(t, 'user.erased')).at(-1)).toMatchObject({ scope: 'audit', user_id: admin.userId });

  await expectProblem(admin.post(`/api/v1/accounts/${user.id}/erase`), 409, 'wrong_state');
  expect((await admin.patch(url, { is_active: true })).body.code).toBe('wrong_state');
  expect((await admin.patch(url, { display_name: 'Back' })).body.code).toBe('wrong_state');
});

it('deactivates at once, and works for who was deleted before', async () => {
  const { body: user } = await admin.post('/api/v1/users', {
    email: 'gone@estate.example',
    display_name: 'Gone Girl',
  });
  await admin.delete(`/api/v1/users/${user.id}`);
  await admin.post('/api/v1/cards', { type: 'Application', name: 'Shown anew' });
  await erase(user.id);
  // the feed sends everything again to clients with copies, also if the last copy was taken just then
  const { next } = (await admin.get('/api/v1/changes?after=now')).body;
  const copied = await admin.get(`/api/v1/extracts/cards?format=csv&columns=name&after=${next}`);
  expect(copied.text).toContain('Shown anew');
  const found = await everything();
  expect(found).not.toContain('gone@estate.example');
  expect(found).not.toContain('Gone Girl');
  const active = await person(t);
  await admin.post(`/api/v1/accounts/${active.id}/erase`);
  expect((await admin.get(`/api/v1/users/${active.id}`)).body.is_active).toBe(false);
});

it('finds every name again after a run that ended half-way', async () => {
  const word = randomUUID().slice(0, 8);
  const { body: user } = await admin.post('/api/v1/users', {
    email: `${word}@estate.example`,
    display_name: `First ${word}`,
  });
  await admin.patch(`/api/v1/users/${user.id}`, { display_name: `Second ${word}` });
  const told = { user_id: admin.userId, actor_id: user.id, type: 'card_updated', title: 'T' };
  await db('notifications').insert({ ...told, message: `First ${word} did it`, event_position: 11 });
  // the state after a killed run: events are rewritten, the account and texts with its names are not yet
  const known = (await readIdentity(db, user.id))!;
  const eraser = createEraser(known, pseudonymOf(user.id));
  const { newest } = await feedEnds(db);
  const found = { id: user.id, patterns: patternsOf(known), eraser };
  await db.transaction((sql) => pseudonymiseEvents(sql, { after: 0, through: newest }, found, 'others'));
  await erase(user.id);
  const left = await everything();
  expect(left.includes(`First ${word}`) || left.includes(`Second ${word}`)).toBe(false);
});

it('finds a name that was given while it ran, and lets nobody give one afterwards', async () => {
  const word = randomUUID().slice(0, 8);
  const { body: user } = await admin.post('/api/v1/users', {
    email: `${word}@estate.example`,
    display_name: `Early ${word}`,
  });
  await db('sso_identities').insert({ issuer: 'https://login.example', subject: word, user_id: user.id });
  const own = (await admin.get(`/api/v1/accounts/${user.id}/personal-data`)).body;
  expect(own.identities).toMatchObject([{ issuer: 'https://login.example', subject: word }]);
  const rename = async (name: string) =>
    (await admin.patch(`/api/v1/users/${user.id}`, { display_name: `${name} ${word}` })).status;
  const renamed: number[] = [];
  const told = { user_id: admin.userId, actor_id: user.id, type: 'card_updated', title: 'T' };
  const job = {
    ctx: await t.ctx(),
    payload: { user_id: user.id },
    signal: new AbortController().signal,
    progress() {},
    // between the first pass and the account, and once more before the end
    async lock() {
      renamed.push(await rename(renamed.length === 0 ? 'Late' : 'Never'));
      if (renamed.length > 1) return;
      await db('notifications').insert({ ...told, message: `Late ${word} did it`, event_position: 21 });
    },
    async finish() {},
  } as unknown as RunningJob<EraseUserPayload>;
  await eraseUser(job);
  expect(renamed).toEqual([200, 409]);
  expect(await everything()).not.toContain(word);
});

it('is refused for oneself and the unknown', async () => {
  await expectProblem(admin.post(`/api/v1/accounts/${admin.userId}/erase`), 409, 'conflict');
  await expectProblem(admin.post('/api/v1/accounts/00000000-0000-4000-8000-000000000000/erase'), 404);
  await expectProblem(admin.post('/api/v1/accounts/nobody/erase'), 422);
});
