import { type Act, type Acts, deletes, onRow } from './hand.ts';

const drawing = (card: string, label: string) =>
  `<mxGraphModel><root><object id="2" label="${label}" cardId="${card}"/></root></mxGraphModel>`;

const draw: Act = async (hand) => {
  const [card, linked] = [await hand.row('cards'), await hand.row('cards')];
  await hand.send('POST', '/diagrams', {
    name: hand.name('Diagram'),
    ...(card ? { data: { xml: drawing(card.id!, 'A'), zoom: hand.below(5) } } : {}),
    ...(linked && hand.chance(0.6) ? { card_ids: [linked.id] } : {}),
    ...hand.one<object>([
      { visibility: 'public' },
      { visibility: 'private' },
      { visibility: 'shared', shared_with: [{ user_id: hand.people[1], can_edit: true }] },
    ]),
  });
};
const redraw: Act = async (hand) => {
  const [diagram, card] = [await hand.row('diagrams'), await hand.row('cards')];
  if (!diagram || !card) return;
  const values = hand.one<object>([
    { data: { xml: drawing(card.id!, hand.name('Label')) } },
    { data: null },
    { card_ids: [card.id] },
    { card_ids: [] },
    { visibility: hand.one(['public', 'private']) },
    { name: hand.name('Diagram'), description: 'About' },
  ]);
  await hand.send('PATCH', `/diagrams/${diagram.id}`, values);
};
const link: Act = async (hand) => {
  const [diagram, card, linked] = [
    await hand.row('diagrams'),
    await hand.row('cards'),
    await hand.row('diagram_cards'),
  ];
  if (linked && hand.chance(0.4)) {
    await hand.send('DELETE', `/diagrams/${linked.diagram_id}/cards/${linked.card_id}`);
  } else if (diagram && card) await hand.send('POST', `/diagrams/${diagram.id}/cards`, { card_id: card.id });
};
const group: Act = async (hand) => {
  const there = await hand.row('diagram_groups');
  const what = hand.below(4);
  if (what < 2 || !there) await hand.send('POST', '/diagram-groups', { name: hand.name('Group') });
  else if (what === 2) await hand.send('DELETE', `/diagram-groups/${there.id}`);
  else
    await hand.send('PATCH', `/diagram-groups/${there.id}`, { sort_order: hand.below(9), color: '#123456' });
};

/** Writes of diagrams, their links, stars and groups. */
export const diagramActs: Acts = [
  [draw, 4],
  [redraw, 4],
  [link, 3],
  [
    onRow('diagrams', (diagram, hand) => [
      hand.one(['POST', 'POST', 'DELETE']),
      `/diagrams/${diagram.id}/favorite`,
    ]),
    2,
  ],
  [group, 2],
  [
    onRow('diagrams', async (diagram, hand) => [
      'PUT',
      `/diagrams/${diagram.id}/groups`,
      { group_ids: hand.some(await hand.rows('diagram_groups'), 3).map(({ id }) => id) },
    ]),
    2,
  ],
  [deletes('diagrams', '/diagrams'), 1],
];
