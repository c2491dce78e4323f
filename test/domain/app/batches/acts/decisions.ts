import { type Act, type Acts, type Hand, onRow } from './hand.ts';

type Kind = 'adr' | 'soaw';
const table = { adr: 'adrs', soaw: 'soaws' } as const;
const any = (hand: Hand): Kind => hand.one(['adr', 'soaw']);

const write: Act = async (hand) => {
  if (hand.chance(0.5)) return await hand.send('POST', '/adr', { title: hand.name('Decision') });
  const initiative = await hand.row('cards', "type = 'Initiative'");
  await hand.send('POST', '/soaw', {
    name: hand.name('Statement'),
    initiative_id: initiative?.id ?? null,
    sections: { '1.1': { content: '<p>Why</p>' } },
  });
};
const initiative: Act = (hand) =>
  hand.send('POST', '/cards', { type: 'Initiative', name: hand.name('Initiative') });
const edit: Act = async (hand) => {
  const kind = any(hand);
  const row = await hand.row(table[kind], "status = 'draft'");
  const values = kind === 'adr' ? { decision: hand.name('Way') } : { sections: {}, status: 'approved' };
  if (row) await hand.send('PATCH', `/${kind}/${row.id}`, values);
};
const request: Act = async (hand) => {
  const kind = any(hand);
  const row = await hand.row(table[kind], "status = 'draft'");
  // the first two of them may sign
  const user_ids = hand.chance(0.5) ? hand.people.slice(0, 1) : hand.people.slice(0, 2);
  if (row) await hand.send('POST', `/${kind}/${row.id}/request-signatures`, { user_ids });
};
const decide: Act = async (hand) => {
  const kind = any(hand);
  const row = await hand.row(table[kind], "status = 'in_review'");
  const action = hand.one(['sign', 'sign', 'sign', 'recall-signatures', 'reject']);
  const body = action === 'reject' ? { comment: 'No.' } : undefined;
  if (row) await hand.send('POST', `/${kind}/${row.id}/${action}`, body);
};
const revise: Act = async (hand) => {
  const kind = any(hand);
  const row = await hand.row(table[kind], "status = 'signed'");
  if (row) await hand.send('POST', `/${kind}/${row.id}/revise`);
};
const link: Act = async (hand) => {
  const [adr, card] = [await hand.row('adrs'), await hand.row('cards')];
  if (adr && card) await hand.send('POST', `/adr/${adr.id}/cards`, { card_id: card.id });
};
const remove: Act = async (hand) => {
  const kind = any(hand);
  const row = await hand.row(table[kind], kind === 'adr' ? "status = 'draft'" : 'true');
  if (row) await hand.send('DELETE', `/${kind}/${row.id}`);
};

/** Writes of decisions and statements. */
export const decisionActs: Acts = [
  [write, 5],
  [initiative, 1],
  [edit, 2],
  [request, 3],
  [decide, 4],
  [revise, 2],
  [onRow('adrs', (row) => ['POST', `/adr/${row.id}/duplicate`]), 1],
  [link, 3],
  [onRow('adr_cards', (row) => ['DELETE', `/adr/${row.adr_id}/cards/${row.card_id}`]), 1],
  [remove, 1],
];
