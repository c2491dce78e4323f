import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

async function made(w: World, url: string, body: object): Promise<string> {
  const answer = await (await w.client('admin')).post(`/api/v1${url}`, body);
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${answer.text}`);
  return answer.body.id;
}
/** A diagram that everybody sees. */
export const diagram = (w: World, more: object = {}): Promise<string> =>
  made(w, '/diagrams', { name: `Diagram ${randomUUID()}`, ...more });
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
  path: { group_id: await made(w, '/diagram-groups', { name: randomUUID() }) },
});

/** Everybody with diagrams.view sees those that are not private; diagrams.manage writes them. */
export const diagramRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('GET /api/v1/diagrams', '+ + + + - - 0'),
  row('POST /api/v1/diagrams', '+ + + - - - 0', () => ({ body: { name: randomUUID() } })),
  row('GET /api/v1/diagrams/favorites', '+ + + + - - 0'),
  row('POST /api/v1/diagrams/{diagram_id}/favorite', '+ + + + - - 0', one),
  row('DELETE /api/v1/diagrams/{diagram_id}/favorite', '+ + + + - - 0', starred),
  row('GET /api/v1/diagrams/{diagram_id}', '+ + + + - - 0', one),
  row('GET /api/v1/diagrams/{diagram_id} (private to another)', '? ? ? ? - - 0', async (w) => {
    const { userId } = await w.t.as('member', 'bystander');
    const diagram_id = await diagram(w);
    await w.t.services.db('diagrams').where({ id: diagram_id }).update({ private_to: userId });
    return { path: { diagram_id } };
  }),
  row('PATCH /api/v1/diagrams/{diagram_id}', '+ + + - - - 0', async (w) => ({
    ...(await one(w)),
    body: { description: 'Changed.' },
  })),
  row('DELETE /api/v1/diagrams/{diagram_id}', '+ + + - - - 0', one),
  row('POST /api/v1/diagrams/{diagram_id}/cards', '+ + + - - - 0', async (w) => ({
    ...(await one(w)),
    body: { card_id: await w.card() },
  })),
  row('DELETE /api/v1/diagrams/{diagram_id}/cards/{card_id}', '+ + + - - - 0', linked),
  row('PUT /api/v1/diagrams/{diagram_id}/groups', '+ + + - - - 0', async (w) => ({
    ...(await one(w)),
    body: { group_ids: [(await group(w)).path.group_id] },
  })),
  row('POST /api/v1/diagrams/generate (a preview)', '+ + + + - - 0', async (w) => ({
    body: { view: 'dependencies', card_id: await w.card() },
  })),
  row('POST /api/v1/diagrams/generate (saved)', '+ + + - - - 0', () => ({
    body: { view: 'landscape', type: 'Application', group_by: 'ITComponent', save: { name: randomUUID() } },
  })),
  row('GET /api/v1/diagram-groups', '+ + + + - - 0'),
  row('POST /api/v1/diagram-groups', '+ + + - - - 0', () => ({ body: { name: randomUUID() } })),
  row('PATCH /api/v1/diagram-groups/{group_id}', '+ + + - - - 0', async (w) => ({
    ...(await group(w)),
    body: { color: '#123456' },
  })),
  row('DELETE /api/v1/diagram-groups/{group_id}', '+ + + - - - 0', group),
];
