import { randomUUID } from 'node:crypto';
import { onNew, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const made = async (w: World, url: string, body: unknown): Promise<string> =>
  (await (await w.t.as('admin', 'maker')).post(url, body)).body.id;
const group = (w: World) => made(w, '/api/v1/tag-groups', { name: randomUUID() });
const tag = async (w: World) => {
  const group_id = await group(w);
  return { group_id, tag_id: await made(w, `/api/v1/tag-groups/${group_id}/tags`, { name: randomUUID() }) };
};

/** The catalogue is for those who keep tags; a card's tags are part of its content; stars are everybody's own. */
export const tagRows: Row[] = [
  row('GET /tag-groups', '+ + + + + + 0'),
  row('POST /tag-groups', '+ + + - - - 0', () => ({ body: { name: randomUUID() } })),
  row('PATCH /tag-groups/{group_id}', '+ + + - - - 0', onNew('group_id', group), { description: 'Changed' }),
  row('DELETE /tag-groups/{group_id}', '+ + + - - - 0', onNew('group_id', group)),
  row('POST /tag-groups/{group_id}/tags', '+ + + - - - 0', onNew('group_id', group), () => ({
    name: randomUUID(),
  })),
  row('PATCH /tag-groups/{group_id}/tags/{tag_id}', '+ + + - - - 0', async (w) => ({
    path: await tag(w),
    body: { description: 'Changed' },
  })),
  row('DELETE /tag-groups/{group_id}/tags/{tag_id}', '+ + + - - - 0', async (w) => ({
    path: await tag(w),
  })),
  row(
    'POST /cards/{id}/tags',
    '+ + + - - - 0',
    onNew('id', (w) => w.card()),
    async (w) => [(await tag(w)).tag_id],
  ),
  row('DELETE /cards/{id}/tags/{tag_id}', '+ + + - - - 0', async (w) => {
    const [id, { tag_id }] = [await w.card(), await tag(w)];
    await (await w.t.as('admin', 'maker')).post(`/api/v1/cards/${id}/tags`, [tag_id]);
    return { path: { id, tag_id } };
  }),
  row('GET /favorites', '+ + + + + + 0'),
  row(
    'POST /favorites/{card_id}',
    '+ + + + + - 0',
    onNew('card_id', (w) => w.card()),
  ),
  row('DELETE /favorites/{card_id}', '+ + + + + + 0', async (w, role) => {
    const card_id = await w.card();
    if (role !== 'anonymous') {
      const { userId } = await w.t.as(role);
      await w.t.services.db('favorites').insert({ user_id: userId, card_id });
    }
    return { path: { card_id } };
  }),
];
