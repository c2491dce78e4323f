import { pluck, type TestApp, type TestClient } from '../../support/harness.ts';
import { card } from '../../support/writes.ts';

export const unit = { type: 'BusinessCapability' };

export const merge = (
  client: TestClient,
  survivor_id: string,
  merged_ids: string[],
  more: Record<string, unknown> = {},
) => client.post('/api/v1/cards/merge', { survivor_id, merged_ids, ...more });

export const undo = (client: TestClient, id: string, body?: Record<string, unknown>) =>
  client.post(`/api/v1/card-merges/${id}/undo`, body);

/** Everything that a merge may touch, but for what every write changes: who wrote last, and when. */
export async function inventory(t: TestApp): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  const sorted = (table: string, order: string) =>
    `select coalesce(json_agg(to_jsonb(x) - '{updated_at,updated_by,xmin}'::text[] order by ${order}), '[]') as rows from ${table} x`;
  for (const [table, order] of [
    ['cards', 'id'],
    ['relations', 'id'],
    ['card_tags', 'card_id, tag_id'],
    ['stakeholders', 'id'],
    ['comments', 'id'],
    ['todos', 'id'],
    ['documents', 'id'],
    ['file_attachments', 'id'],
    ['favorites', 'id'],
    ['card_redirects', 'card_id'],
  ] as const)
    state[table] = (await t.services.db.raw(sorted(table, order))).rows[0].rows;
  return state;
}

/** Attaches one of everything to a card. */
async function furnish(admin: TestClient, id: string): Promise<void> {
  const answers = [
    await admin.post(card(id, '/comments'), { content: 'A comment' }),
    await admin.post(card(id, '/todos'), { description: 'A to-do' }),
    await admin.post(card(id, '/documents'), { name: 'A link', url: 'https://estate.example/' }),
    await admin.post(card(id, '/stakeholders'), { user_id: admin.userId, role: 'responsible' }),
  ];
  for (const answer of answers) expect(answer.status, answer.text).toBe(201);
  await admin.create(card(id, '/comments'), { content: 'A reply', parent_id: answers[0]!.body.id });
  expect((await admin.post(`/api/v1/favorites/${id}`)).status).toBeLessThan(300);
}

/** A tag of a group of its own. */
async function makeTag(t: TestApp, mode: 'single' | 'multi', names: string[]): Promise<string[]> {
  const { db } = t.services;
  const [group] = await db('tag_groups')
    .insert({ name: `Group ${names.join()}`, mode })
    .returning('id');
  const rows = await db('tags')
    .insert(names.map((name) => ({ name, tag_group_id: group.id })))
    .returning('id');
  await db.raw(`select raise_topics(array['metamodel'])`);
  return pluck(rows, 'id');
}

/** Two applications with nearly everything, and what they are related to. */
export async function duplicates(t: TestApp, admin: TestClient) {
  const survivor = await admin.card({
    external_id: `S-${Math.random()}`,
    attributes: { timeModel: 'invest' },
    lifecycle: { active: '2020-01-01' },
  });
  const other = await admin.card({
    external_id: `O-${Math.random()}`,
    description: 'What the survivor lacks',
    alias: 'Lent',
    lifecycle: { active: '1999-01-01', endOfLife: '2031-01-01' },
    attributes: { timeModel: 'migrate', businessCriticality: 'missionCritical', costTotalAnnual: 7 },
  });
  const [shared, own] = [
    await admin.card({ type: 'ITComponent' }),
    await admin.card({ type: 'ITComponent' }),
  ];
  const kept = await admin.relate('relAppToITC', survivor.id, shared.id);
  const folded = await admin.relate('relAppToITC', other.id, shared.id);
  await admin.patch(`/api/v1/relations/${folded.id}`, { description: 'Only here' });
  const moved = await admin.relate('relAppToITC', other.id, own.id);
  await furnish(admin, survivor.id);
  await furnish(admin, other.id);
  expect((await (await t.as('viewer')).post(`/api/v1/favorites/${other.id}`)).status).toBeLessThan(300);
  const [first, second] = await makeTag(t, 'single', [`a${survivor.id}`, `b${survivor.id}`]);
  const [third] = await makeTag(t, 'multi', [`c${survivor.id}`]);
  await t.services.db('card_tags').insert([
    { card_id: survivor.id, tag_id: first },
    { card_id: other.id, tag_id: second },
    { card_id: other.id, tag_id: third },
  ]);
  return { survivor, other, shared, own, kept, folded, moved, tags: { first, second, third } };
}
