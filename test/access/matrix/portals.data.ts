import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** A portal that shows applications with what they run on, one of them; published unless told otherwise. */
async function portal(w: World, more: object = {}): Promise<{ portal_id: string; slug: string }> {
  await w.relation();
  const slug = `portal-${randomUUID()}`;
  const made = await (await w.client('admin')).post('/api/v1/web-portals', {
    name: 'Applications',
    slug,
    card_type: 'Application',
    display_fields: ['subtype', 'tags', 'attributes.businessCriticality', 'relations.relAppToITC'],
    is_published: true,
    ...more,
  });
  if (made.status !== 201) throw new Error(`the portal was not made: ${made.text}`);
  return { portal_id: made.body.id, slug };
}
const one = async (w: World) => ({ path: { portal_id: (await portal(w)).portal_id } });
const draft = async (w: World) => ({
  path: { portal_id: (await portal(w, { is_published: false })).portal_id },
});
const shown = async (w: World) => ({ path: { slug: (await portal(w)).slug }, apart: true });

/** web_portals.manage writes them, web_portals.view sees those that are published, and everybody what these show. */
export const portalRows: Row[] = [
  row('GET /web-portals', '+ + + + - - 0'),
  row('POST /web-portals', '+ - - - - - 0', () => ({
    body: { name: 'New', slug: `new-${randomUUID()}`, card_type: 'Application' },
  })),
  row('GET /web-portals/{portal_id}', '+ + + + - - 0', one),
  row('GET /web-portals/{portal_id} (a draft)', '+ ? ? ? - - 0', draft),
  row('PATCH /web-portals/{portal_id}', '+ - - - - - 0', one, { is_published: false }),
  row('DELETE /web-portals/{portal_id}', '+ - - - - - 0', one),
  row('GET /web-portals/public/{slug}', '+ + + + + + +', shown),
  row('GET /web-portals/public/{slug}/relation-options', '+ + + + + + +', async (w) => ({
    ...(await shown(w)),
    query: 'type_key=relAppToITC',
  })),
  row('GET /web-portals/public/{slug}/cards', '+ + + + + + +', shown),
  row('GET /portal/{slug}', '+ + + + + + +', shown),
];
