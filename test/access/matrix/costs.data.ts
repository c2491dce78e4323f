import { onCard, type Row, row } from '../matrix.row.ts';
import type { CardRow } from '../own-card.row.ts';
import { made, type World } from '../world.ts';

const body = { kind: 'licence', period_start: '2026-01-01', period_end: '2026-12-31', amount: 1200 };
const of = async (w: World, what: 'cards' | 'relations', id: string) => ({
  path: { id: (await made(w, `/${what}/${id}/costs`, body)).id },
});
const onCost = async (w: World) => of(w, 'cards', await w.card());
const onRelation = async (w: World) => ({ path: { id: await w.relation() } });
const onRelationCost = async (w: World) => of(w, 'relations', await w.relation());

/** Costs are read by those who see costs, and written by those who may also change the card or the relation. */
export const costRows: Row[] = [
  // operation                                      A B M V I P 0
  row('GET /costs', '+ + + - - - 0'),
  row('GET /costs/{id}', '+ + + - - - 0', onCost),
  row('GET /costs/{id} (of a relation)', '+ + + - - - 0', onRelationCost),
  row('GET /cards/{id}/costs', '+ + + - - - 0', onCard),
  row('POST /cards/{id}/costs', '+ + + - - - 0', onCard, body),
  row('GET /relations/{id}/costs', '+ + + - - - 0', onRelation),
  row('POST /relations/{id}/costs', '+ + + - - - 0', onRelation, body),
  row('PATCH /costs/{id}', '+ + + - - - 0', onCost, { amount: 7 }),
  row('PATCH /costs/{id} (of a relation)', '+ + + - - - 0', onRelationCost, { amount: 7 }),
  row('DELETE /costs/{id}', '+ + + - - - 0', onCost),
  row('DELETE /costs/{id} (of a relation)', '+ + + - - - 0', onRelationCost),
];

/** A relation of the card with one that is only visible to those who hold a role on it. */
const ofCard: CardRow['call'] = async (w, card) => {
  const target_id = await w.card({ type: 'ITComponent' });
  const holders: string[] = await w.t.services.db('stakeholders').where({ card_id: card }).pluck('user_id');
  for (const user of holders) await w.stakeholder(target_id, user, 'observer');
  return {
    path: { id: (await made(w, '/relations', { type: 'relAppToITC', source_id: card, target_id })).id },
  };
};

export const cardRows: CardRow[] = [
  {
    operation: 'POST /api/v1/relations/{id}/costs',
    call: async (w, id) => ({ ...(await ofCard(w, id)), body }),
  },
  { operation: 'GET /api/v1/cards/{id}/costs', call: (_, id) => ({ path: { id } }) },
  { operation: 'GET /api/v1/costs/{id}', call: (w, id) => of(w, 'cards', id) },
  { operation: 'POST /api/v1/cards/{id}/costs', call: (_, id) => ({ path: { id }, body }) },
  {
    operation: 'PATCH /api/v1/costs/{id}',
    call: async (w, id) => ({ ...(await of(w, 'cards', id)), body: { amount: 7 } }),
  },
  { operation: 'DELETE /api/v1/costs/{id}', call: (w, id) => of(w, 'cards', id) },
];
