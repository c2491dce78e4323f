import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import { made, type Role, type World } from '../world.ts';

/** A diagram that everybody sees. */
export const diagram = async (w: World, more: object = {}): Promise<string> =>
  (await made(w, '/diagrams', { name: `Diagram ${randomUUID()}`, ...more })).id;
const one = async (w: World) => ({ path: { diagram_id: await diagram(w) } });

async function linked(w: World) {
  const card_id = await w.card();
  return { path: { diagram_id: await diagram(w, { card_ids: [card_id] }), card_id } };
}
/** A diagram that the role has starred. */
async function starred(w: World, role: Role) {
  const diagram_id = await diagram(w);
  if (role !== 'anonymous') {
    const { userId: user_id } = await w.client(role);
    await w.t.services.db('diagram_favorites').insert({ user_id, diagram_id });
  }
  return { path: { diagram_id } };
}
const group = async (w: World) => ({
  path: { group_id: (await made(w, '/diagram-groups', { name: randomUUID() })).id },
});

/** Everybody with diagrams.view sees those that are not private; diagrams.manage writes them. */
export const diagramRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('GET /diagrams', '+ + + + - - 0'),
  row('POST /diagrams', '+ + + - - - 0', () => ({ body: { name: randomUUID() } })),
  row('GET /diagrams/favorites', '+ + + + - - 0'),
  row('POST /diagrams/{diagram_id}/favorite', '+ + + + - - 0', one),
  row('DELETE /diagrams/{diagram_id}/favorite', '+ + + + - - 0', starred),
  row('GET /diagrams/{diagram_id}', '+ + + + - - 0', one),
  row('GET /diagrams/{diagram_id} (private to another)', '? ? ? ? - - 0', async (w) => {
    const { userId } = await w.t.as('member', 'bystander');
    const diagram_id = await diagram(w);
    await w.t.services.db('diagrams').where({ id: diagram_id }).update({ private_to: userId });
    return { path: { diagram_id } };
  }),
  row('PATCH /diagrams/{diagram_id}', '+ + + - - - 0', one, { description: 'Changed.' }),
  row('DELETE /diagrams/{diagram_id}', '+ + + - - - 0', one),
  row('POST /diagrams/{diagram_id}/cards', '+ + + - - - 0', one, async (w) => ({ card_id: await w.card() })),
  row('DELETE /diagrams/{diagram_id}/cards/{card_id}', '+ + + - - - 0', linked),
  row('PUT /diagrams/{diagram_id}/groups', '+ + + - - - 0', one, async (w) => ({
    group_ids: [(await group(w)).path.group_id],
  })),
  row('POST /diagrams/generate (a preview)', '+ + + + - - 0', async (w) => ({
    body: { view: 'dependencies', card_id: await w.card() },
  })),
  row('POST /diagrams/generate (saved)', '+ + + - - - 0', () => ({
    body: { view: 'landscape', type: 'Application', group_by: 'ITComponent', save: { name: randomUUID() } },
  })),
  row('GET /diagram-groups', '+ + + + - - 0'),
  row('POST /diagram-groups', '+ + + - - - 0', () => ({ body: { name: randomUUID() } })),
  row('PATCH /diagram-groups/{group_id}', '+ + + - - - 0', group, { color: '#123456' }),
  row('DELETE /diagram-groups/{group_id}', '+ + + - - - 0', group),
];
