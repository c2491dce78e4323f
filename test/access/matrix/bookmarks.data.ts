import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

/** A view of the role's own. */
async function own(w: World, role: Role, more: object = {}): Promise<{ bm_id: string }> {
  const { userId } = await w.t.as(role === 'anonymous' ? 'admin' : role);
  const [made] = await w.t.services
    .db('bookmarks')
    .insert({ owner_id: userId, name: randomUUID(), ...more })
    .returning('id');
  return { bm_id: made.id };
}

export const bookmarkRows: Row[] = [
  row('GET /bookmarks', '+ + + + - - 0'),
  row('POST /bookmarks', '+ + + + - - 0', () => ({ body: { name: randomUUID() } })),
  row('POST /bookmarks (public)', '+ + + - - - 0', () => ({
    body: { name: randomUUID(), visibility: 'public' },
  })),
  row('POST /bookmarks (feed)', '+ + + - - - 0', () => ({
    body: { name: randomUUID(), odata_enabled: true },
  })),
  row('PATCH /bookmarks/{bm_id}', '+ + + + - - 0', async (w, role) => ({
    path: await own(w, role),
    body: { name: 'Changed' },
  })),
  row('DELETE /bookmarks/{bm_id}', '+ + + + - - 0', async (w, role) => ({ path: await own(w, role) })),
  row('GET /bookmarks/{bm_id}/odata', '+ + + + - - 0', async (w, role) => ({
    path: await own(w, role, { odata_enabled: true }),
  })),
];
