import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';

/** Work on many cards at once. */
export const cardBulkRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('PATCH /cards/bulk', '+ + + - - - 0', async (w) => ({
    body: { ids: [await w.card()], updates: { alias: 'X' } },
  })),
  row('POST /cards/bulk-create', '+ + + - - - 0', () => ({
    body: { cards: [{ row_index: 1, type: 'Application', name: randomUUID() }] },
  })),
  row('POST /cards/bulk-archive', '+ + + - - - 0', async (w) => ({
    body: { card_ids: [await w.card()] },
  })),
  row('POST /cards/bulk-delete', '+ - - - - - 0', async (w) => ({
    body: { card_ids: [await w.card()] },
  })),
  row('POST /cards/bulk-restore', '+ + + - - - 0', async (w) => {
    const id = await w.card();
    await (await w.client('admin')).post(`/api/v1/cards/${id}/archive`);
    return { body: { card_ids: [id] } };
  }),
  row('POST /cards/bulk-approval', '+ + + - - - 0', async (w) => ({
    body: { card_ids: [await w.card()], action: 'reject' },
  })),
  row('POST /cards/bulk-tags', '+ + + - - - 0', async (w) => ({ body: { card_ids: [await w.card()] } })),
  row('POST /cards/resolve-refs', '+ + + + + - 0', () => ({
    body: { refs: [{ row: 1, column: 'a', type: 'Application', ref: 'Nowhere' }] },
  })),
];
