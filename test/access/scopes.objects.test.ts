import { callerOfJob } from '../../domain/access/jobs.owner.ts';
import { closeAfterAll, expectProblem, pluck, type TestClient } from '../support/harness.ts';
import { ok } from './refusal.ts';
import { withScopes } from './scoped.ts';
import { openStream } from './stream.ts';
import { createWorld, written } from './world.ts';

const w = closeAfterAll(await createWorld());
const participant = await w.client('participant');
const admin = await w.client('admin');

const of = (user: TestClient, ...scopes: string[]) => withScopes(w.t, user, scopes);

async function refused(act: () => ReturnType<TestClient['get']>, status = 403): Promise<void> {
  await written(w);
  const answer = await act();
  expect(answer.status, answer.text).toBe(status);
  expect(await written(w)).toEqual([]);
}

test('a role on a card shows the card and its costs to a token with both scopes, and its cost to no other', async () => {
  const card = await w.ownCard();
  const costs = async (...scopes: string[]) => {
    const answer = await (await of(participant, ...scopes)).get(`/api/v1/cards/${card}`);
    ok(answer);
    return answer.body.attributes.costTotalAnnual;
  };
  expect(await costs('*')).toBe(4711);
  expect(await costs('inventory.view', 'costs.view')).toBe(4711);
  expect(await costs('inventory.view')).toBeUndefined();
  const unseen = await of(participant, 'costs.view', 'account');
  await refused(() => unseen.get(`/api/v1/cards/${card}`));
  await expectProblem((await of(participant, 'costs.view')).get(`/api/v1/cards/${card}/my-permissions`), 403);
});

test('what a token may do on a card says so', async () => {
  const card = await w.ownCard();
  const client = await of(participant, 'inventory.view', 'inventory.edit');
  const rights = (await client.get(`/api/v1/cards/${card}/my-permissions`)).body.effective;
  expect(rights).toMatchObject({ can_view: true, can_edit: true, can_archive: false, can_view_costs: false });
});

test('the account, favourites and to-dos are within the scope account', async () => {
  const member = await w.t.as('member', 'scoped-account');
  const narrow = await of(member, 'inventory.view', 'inventory.edit', 'eol.view');
  const own = await of(member, 'account', 'inventory.view');
  const me = `/api/v1/users/${member.userId}`;
  await refused(() => narrow.patch(me, { display_name: 'Taken' }));
  ok(await own.patch(me, { locale: 'de' }));
  const todo = await member.post(`/api/v1/cards/${await w.card()}/todos`, { description: 'Look' });
  ok(todo, 201);
  await refused(() => narrow.patch(`/api/v1/todos/${todo.body.id}`, { status: 'done' }));
  await refused(() => narrow.get('/api/v1/todos'));
  ok(await own.patch(`/api/v1/todos/${todo.body.id}`, { status: 'done' }));
  const token = await member.post('/api/v1/tokens', { name: 'Other', scopes: ['account'] });
  ok(token, 201);
  await refused(() => narrow.delete(`/api/v1/tokens/${token.body.id}`));
  await refused(() => narrow.get('/api/v1/tokens'));
  ok(await own.delete(`/api/v1/tokens/${token.body.id}`), 204);
});

test('an own comment is changed within the scope of writing comments', async () => {
  const member = await w.t.as('member', 'scoped-comments');
  const comment = await member.post(`/api/v1/cards/${await w.card()}/comments`, { content: 'First' });
  ok(comment, 201);
  const path = `/api/v1/comments/${comment.body.id}`;
  const others = await of(member, 'comments.view', 'inventory.view', 'inventory.edit', 'account');
  await refused(() => others.patch(path, { content: 'Second' }));
  await refused(() => others.delete(path));
  ok(await (await of(member, 'comments.create')).patch(path, { content: 'Second' }));
});

test('a job acts within the scopes of the token that asked for it, and no narrower token reaches it', async () => {
  const scopes = ['inventory.view', 'inventory.export'];
  const client = await of(admin, ...scopes);
  const started = await client.post('/api/v1/exports', { format: 'csv', kind: 'cards' });
  ok(started, 202);
  const id = started.body.job_id;
  const row = await w.t.services.db('jobs').where({ id }).first('rights');
  expect([...row.rights.scopes].sort()).toEqual([...scopes].sort());
  const caller = await callerOfJob(w.t.services.db, admin.userId, row.rights);
  expect([...(caller.scopes ?? [])].sort()).toEqual([...scopes].sort());
  expect(caller.permissions).toEqual(new Set(scopes));
  ok(await client.get(`/api/v1/jobs/${id}`));
  const narrower = await of(admin, 'inventory.view', 'account');
  expect((await narrower.get('/api/v1/jobs')).body.items).toEqual([]);
  await refused(() => narrower.get(`/api/v1/jobs/${id}`), 404);
  await refused(() => narrower.post(`/api/v1/jobs/${id}/cancel`), 404);
  ok(await (await of(admin, ...scopes, 'eol.view')).post(`/api/v1/jobs/${id}/cancel`));
});

test('a file of an own job beyond the scopes needs the right to others’ files', async () => {
  const path = `/api/v1/jobs/${await w.finishedJob(admin.userId)}/result`;
  ok(await (await of(admin, '*')).get(path));
  const narrow = await of(admin, 'inventory.export', 'account');
  await refused(() => narrow.get(path), 404);
  const auditor = await of(admin, 'admin.events');
  await refused(() => auditor.get(path));
  ok(await (await of(admin, 'admin.events', 'admin.export_workspace')).get(path));
});

test('subscriptions and extractions keep the scopes of the token that set them up', async () => {
  const client = await of(admin, 'admin.settings', 'inventory.view', 'inventory.export');
  const webhook = await client.post('/api/v1/webhooks', {
    name: 'Narrow',
    url: 'https://receiver.example/in',
  });
  ok(webhook, 201);
  const stored = await w.t.services.db('webhooks').where({ name: 'Narrow' }).first('rights');
  expect(stored.rights.scopes).toContain('inventory.view');
  expect(stored.rights.scopes).not.toContain('costs.view');
  const schedule = {
    name: 'Narrow',
    cron: '0 3 * * *',
    time_zone: 'UTC',
    request: { format: 'csv', kind: 'cards' },
    destination: { kind: 'disk' },
  };
  const made = await (await of(admin, 'inventory.view', 'inventory.export')).post(
    '/api/v1/extraction-schedules',
    schedule,
  );
  ok(made, 201);
  const path = `/api/v1/extraction-schedules/${made.body.id}`;
  ok(await (await of(admin, 'inventory.view', 'inventory.export', 'costs.view')).get(path));
  const whole = await admin.post('/api/v1/extraction-schedules', { ...schedule, name: 'Whole' });
  ok(whole, 201);
  const narrow = await of(admin, 'inventory.view', 'inventory.export');
  await refused(() => narrow.get(`/api/v1/extraction-schedules/${whole.body.id}`), 404);
  await refused(() => narrow.post(`/api/v1/extraction-schedules/${whole.body.id}/run`), 404);
});

test('a stream needs the scope of what it shows, also by a ticket', async () => {
  const narrow = await of(admin, 'eol.view');
  const wide = await of(admin, 'inventory.view');
  expect([await openStream(w, wide.token), await openStream(w, narrow.token)]).toEqual([200, 403]);
});

test('changes addressed to the account itself show within its scope', async () => {
  const member = await w.t.as('member', 'scoped-changes');
  const start = await member.position();
  ok(await member.post(`/api/v1/favorites/${await w.card()}`), 201);
  const kinds = async (...scopes: string[]) => {
    const answer = await (await of(member, ...scopes)).get(`/api/v1/changes?after=${start}`);
    ok(answer);
    return pluck(answer.body.items, 'event_type');
  };
  expect(await kinds('inventory.view', 'account')).toContain('favorite.created');
  expect(await kinds('inventory.view')).not.toContain('favorite.created');
});

test('a token asks for scopes that there are', async () => {
  const answer = await admin.post('/api/v1/tokens', { name: 'Unknown', scopes: ['account', 'accounts'] });
  expect(answer.status).toBe(422);
  expect(answer.body.errors[0]).toMatchObject({ field: 'scopes.1', code: 'unknown_permission' });
});
