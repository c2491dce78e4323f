import { onCard, type Row, row } from '../matrix.row.ts';
import type { CardRow } from '../own-card.row.ts';
import { made, type World } from '../world.ts';

const between = async (w: World, card: string) => ({ source_id: await w.card(), target_id: card });
const flow = async (w: World, card: string) =>
  (await made(w, '/data-flows', await between(w, card))).id as string;
const onFlow = async (w: World) => ({ path: { id: await flow(w, await w.card()) } });
const bulk = async (w: World, card: string) => {
  const { source_id, target_id } = await between(w, card);
  const operation = { row_index: 1, source: { id: source_id }, target: { id: target_id } };
  return {
    body: { operations: [operation] },
    refused: ({ results }: { results: { code: string | null }[] }) => results[0]!.code === 'forbidden',
  };
};

/** Data flows are read and written by those who read and write relations. */
export const dataFlowRows: Row[] = [
  // operation                                      A B M V I P 0
  row('GET /data-flows', '+ + + + + - 0'),
  row('GET /data-flows/suggested', '+ + + + + - 0'),
  row('GET /cards/{id}/data-flows', '+ + + + + - 0', onCard),
  row('GET /data-flows/{id}', '+ + + + + - 0', onFlow),
  row('POST /data-flows', '+ + + - + - 0', undefined, async (w) => await between(w, await w.card())),
  row('POST /data-flows/bulk', '+ + + - + - 0', async (w) => await bulk(w, await w.card())),
  row('PATCH /data-flows/{id}', '+ + + - + - 0', onFlow, { description: 'Changed.' }),
  row('DELETE /data-flows/{id}', '+ + + - + - 0', onFlow),
];

/** A card that only those see who hold a role on the given one. */
const seenCard = async (w: World, card: string) => {
  const other = await w.card();
  const holders: string[] = await w.t.services.db('stakeholders').where({ card_id: card }).pluck('user_id');
  for (const user of holders) await w.stakeholder(other, user, 'observer');
  return other;
};
const ofCard = async (w: World, card: string) => {
  const target_id = await seenCard(w, card);
  return { path: { id: (await made(w, '/data-flows', { source_id: card, target_id })).id } };
};

export const cardRows: CardRow[] = [
  {
    operation: 'POST /api/v1/data-flows',
    call: async (w, id) => ({ body: { source_id: id, target_id: await seenCard(w, id) } }),
  },
  {
    operation: 'POST /api/v1/data-flows/bulk',
    call: async (w, id) => {
      const operation = { row_index: 1, source: { id }, target: { id: await seenCard(w, id) } };
      return {
        body: { operations: [operation] },
        refused: ({ results }) => results[0]!.code === 'forbidden',
      };
    },
  },
  {
    operation: 'PATCH /api/v1/data-flows/{id}',
    call: async (w, id) => ({ ...(await ofCard(w, id)), body: { description: 'Changed.' } }),
  },
  { operation: 'DELETE /api/v1/data-flows/{id}', call: ofCard },
];
