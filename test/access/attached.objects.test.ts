import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { closeAfterAll, expectProblem, type TestAnswer } from '../support/harness.ts';
import { expectRefusal, ok } from './refusal.ts';
import { createWorld } from './world.ts';

const w = closeAfterAll(await createWorld());
const admin = await w.client('admin');
/** Holds no application permission, and is responsible for `own`. */
const participant = await w.client('participant');
const own = await w.ownCard();
const foreign = await w.card();

const refused = (permission: string, act: () => Promise<TestAnswer>) => expectRefusal(w, permission, act);

/** Makes something on a card as the administrator. */
async function made(url: string, body: unknown): Promise<string> {
  const answer = await admin.post(url, body);
  ok(answer, 201);
  return answer.body.id;
}

describe('who is responsible for a card', () => {
  test('comments on it, keeps what others say there, and says nothing elsewhere', async () => {
    const comments = (card: string) => `/api/v1/cards/${card}/comments`;
    const mine = await participant.post(comments(own), { content: 'Mine.' });
    ok(mine, 201);
    ok(await participant.patch(`/api/v1/comments/${mine.body.id}`, { content: 'Still mine.' }));
    const said = await made(comments(own), { content: 'Said.' });
    ok(await participant.delete(`/api/v1/comments/${said}`), 204);
    await refused('comments.create', () => participant.post(comments(foreign), { content: 'Mine.' }));
    const elsewhere = await made(comments(foreign), { content: 'Said.' });
    const otherwise = { content: 'Said otherwise.' };
    await refused('comments.manage', () => participant.patch(`/api/v1/comments/${elsewhere}`, otherwise));
    await refused('comments.manage', () => participant.delete(`/api/v1/comments/${elsewhere}`));
  });

  test('assigns work on it, and does not learn of that on others', async () => {
    const todos = (card: string) => `/api/v1/cards/${card}/todos`;
    ok(await participant.get(todos(own)));
    const mine = await participant.post(todos(own), { description: 'Mine' });
    ok(mine, 201);
    ok(await participant.patch(`/api/v1/todos/${mine.body.id}`, { status: 'done' }));
    ok(await participant.delete(`/api/v1/todos/${mine.body.id}`), 204);
    await refused('inventory.view', () => participant.post(todos(foreign), { description: 'Mine' }));
    const other = await made(todos(foreign), { description: 'Do it' });
    await expectProblem(participant.patch(`/api/v1/todos/${other}`, { status: 'done' }), 404);
    await expectProblem(participant.delete(`/api/v1/todos/${other}`), 404);
    // seen with the card, but neither theirs nor assigned to them
    const onOwn = await made(todos(own), { description: 'Do it' });
    await expectProblem(participant.delete(`/api/v1/todos/${onOwn}`), 403);
  });

  test('observes and stars it, and what is not seen neither', async () => {
    ok(await participant.post(`/api/v1/cards/${own}/me/observe`), 201);
    await refused('inventory.view', () => participant.post(`/api/v1/cards/${foreign}/me/observe`));
    ok(await participant.post(`/api/v1/favorites/${own}`), 201);
    await refused('inventory.view', () => participant.post(`/api/v1/favorites/${foreign}`));
    const stars = await participant.get('/api/v1/favorites');
    expect(stars.text).toContain(own);
    expect(stars.text).not.toContain(foreign);
  });

  test('changes many at once only where all are theirs', async () => {
    const second = await w.ownCard();
    const updates = { alias: 'Mine' };
    await refused('inventory.bulk_edit', () =>
      participant.patch('/api/v1/cards/bulk', { ids: [own], updates }),
    );
    // may change many at once, but each only by a right on it
    const permissions = JSON.stringify({ 'inventory.bulk_edit': true });
    await w.t.services.db('roles').insert({ key: 'many', label: 'Many', permissions });
    const hand = await w.t.as('many');
    for (const card of [own, second]) await w.stakeholder(card, hand.userId, 'responsible');
    ok(await hand.patch('/api/v1/cards/bulk', { ids: [own, second], updates }));
    await refused('inventory.edit', () => hand.patch('/api/v1/cards/bulk', { ids: [own, foreign], updates }));
    await refused('inventory.archive', () =>
      participant.post('/api/v1/cards/bulk-archive', { card_ids: [own, foreign] }),
    );
    await refused('inventory.delete', () =>
      participant.post('/api/v1/cards/bulk-delete', { card_ids: [second] }),
    );
    ok(await participant.post('/api/v1/cards/bulk-archive', { card_ids: [second] }));
    ok(await participant.post('/api/v1/cards/bulk-restore', { card_ids: [second] }));
  });

  test('merges their cards with one another, and with no other', async () => {
    const [survivor_id, other] = [await w.ownCard(), await w.ownCard()];
    const merge = (id: string) => participant.post('/api/v1/cards/merge', { survivor_id, merged_ids: [id] });
    await refused('inventory.edit', () => merge(foreign));
    ok(await merge(other));
  });
});

describe('what is somebody’s own', () => {
  test('are views: others neither see nor change them, unless they are for all', async () => {
    const viewer = await w.client('viewer');
    const member = await w.client('member');
    const view = await member.post('/api/v1/bookmarks', { name: randomUUID() });
    ok(view, 201);
    const url = `/api/v1/bookmarks/${view.body.id}`;
    for (const client of [viewer, admin]) {
      await expectProblem(client.patch(url, { name: 'Mine' }), 404);
      await expectProblem(client.delete(url), 404);
      expect((await client.get('/api/v1/bookmarks?page_size=200')).text).not.toContain(view.body.id);
    }
    ok(await member.patch(url, { visibility: 'public' }));
    expect((await viewer.get('/api/v1/bookmarks?page_size=200')).text).toContain(view.body.id);
    await expectProblem(viewer.delete(url), 403);
    ok(await member.delete(url), 204);
  });

  test('are comments: who wrote one may change it, who only may write may not change another’s', async () => {
    const member = await w.client('member');
    const mine = await member.post(`/api/v1/cards/${foreign}/comments`, { content: 'Mine.' });
    ok(await member.patch(`/api/v1/comments/${mine.body.id}`, { content: 'Still mine.' }));
    const other = await made(`/api/v1/cards/${foreign}/comments`, { content: 'Said.' });
    await refused('comments.manage', () => member.delete(`/api/v1/comments/${other}`));
    ok(await member.delete(`/api/v1/comments/${mine.body.id}`), 204);
  });
});

test('a webhook is kept by those who keep settings, and its secret is told once', async () => {
  const integrator = await w.client('integrator');
  const hook = await integrator.post('/api/v1/webhooks', {
    name: randomUUID(),
    url: 'https://hooks.example.com/estate',
  });
  ok(hook, 201);
  const url = `/api/v1/webhooks/${hook.body.webhook.id}`;
  expect((await integrator.get(url)).text).not.toContain(hook.body.secret);
  await refused('admin.settings', () => participant.get(url));
  await refused('admin.settings', () => participant.post(`${url}/ping`));
});
