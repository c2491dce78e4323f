import { onNew, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** A merge that somebody else has made. */
async function merged(w: World): Promise<string> {
  const [survivor_id, other] = [await w.card(), await w.card()];
  const admin = await w.client('admin');
  const answer = await admin.post('/api/v1/cards/merge', { survivor_id, merged_ids: [other] });
  return answer.body.merge_id;
}

/** Merging of cards. */
export const cardMergeRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('POST /cards/merge', '+ + + - - - 0', async (w) => ({
    body: { survivor_id: await w.card(), merged_ids: [await w.card()] },
  })),
  row('GET /card-merges', '+ + + + + - 0'),
  row('GET /card-merges/{id}', '+ + + + + - 0', async (w) => ({ path: { id: await merged(w) } })),
  row('POST /card-merges/{id}/undo', '+ + + - - - 0', onNew('id', merged)),
];
