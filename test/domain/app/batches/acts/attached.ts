import { type Act, type Acts, deletes, type Hand, onRow, patches, removing } from './hand.ts';

const roles = ['responsible', 'observer'];
const text = (hand: Hand) =>
  hand.one(['Said', 'Asked', `@[Somebody](user:${hand.one(hand.people)}) look`, '=1+1 <b>bold</b>']);
const todo = (hand: Hand) => {
  const repeats = hand.chance(0.5);
  return {
    description: hand.name('Do'),
    assigned_to: hand.one([null, ...hand.people]),
    due_date: repeats ? '2026-01-31' : hand.one([null, '2026-03-01']),
    ...(repeats
      ? { recurrence_unit: hand.one(['days', 'months', 'years']), recurrence_interval: 1 + hand.below(3) }
      : {}),
  };
};
const attach: Act = async (hand) => {
  const on = await hand.row('cards');
  // the same content more than once as well
  const content = `text ${hand.below(4)}`;
  if (on) await hand.upload(`/cards/${on.id}/file-attachments`, `${hand.name('File')}.txt`, content);
};
const putTags = onRow('cards', async ({ id }, hand) => {
  return ['POST', `/cards/${id}/tags`, hand.some(await hand.rows('tags'), 2).map((tag) => tag.id)];
});

/** Writes to what goes with a card when it is deleted. */
export const onCardActs: Acts = [
  [
    onRow('cards', ({ id }, hand) => {
      return ['POST', `/cards/${id}/stakeholders`, { user_id: hand.one(hand.people), role: hand.one(roles) }];
    }),
    5,
  ],
  [patches('stakeholders', '/stakeholders', (hand) => ({ role: hand.one(roles) })), 2],
  [deletes('stakeholders', '/stakeholders'), 2],
  [onRow('cards', ({ id }, hand) => [hand.one(['POST', 'DELETE']), `/cards/${id}/me/observe`]), 2],
  [onRow('cards', ({ id }, hand) => ['POST', `/cards/${id}/comments`, { content: text(hand) }]), 4],
  [
    onRow('comments', ({ id, card_id }, hand) => {
      return ['POST', `/cards/${card_id}/comments`, { content: text(hand), parent_id: id }];
    }),
    4,
  ],
  [patches('comments', '/comments', (hand) => ({ content: text(hand) })), 2],
  [deletes('comments', '/comments'), 2],
  [onRow('cards', ({ id }, hand) => ['POST', `/cards/${id}/todos`, todo(hand)]), 4],
  [
    patches('todos', '/todos', (hand) =>
      hand.one<object>([
        { status: 'done' },
        { status: 'done' },
        { status: 'open' },
        { assigned_to: hand.one(hand.people) },
        { description: hand.name('Do'), due_date: '2027-02-28' },
      ]),
    ),
    4,
  ],
  [onRow('todos', ({ id }) => ['POST', `/todos/${id}/promote`]), 2],
  [deletes('todos', '/todos'), 1],
  [
    onRow('cards', ({ id }, hand) => {
      const link = { name: hand.name('Link'), url: `https://example.org/${hand.below(5)}` };
      return ['POST', `/cards/${id}/documents`, link];
    }),
    3,
  ],
  [deletes('documents', '/documents'), 2],
  [attach, 3],
  [deletes('file_attachments', '/file-attachments'), 2],
  [putTags, 5],
  [onRow('card_tags', ({ card_id, tag_id }) => ['DELETE', `/cards/${card_id}/tags/${tag_id}`]), 2],
];

const someOf = (hand: Hand, values: object, share: number) =>
  Object.fromEntries(Object.entries(values).filter(() => hand.chance(share)));
const view = (hand: Hand) => ({
  name: hand.name('View'),
  card_type: hand.one([null, 'Application']),
  is_default: hand.chance(0.5),
  visibility: hand.one(['private', 'public', 'shared']),
  shared_with: hand.one([null, [{ user_id: hand.people[0], can_edit: true }]]),
  columns: hand.one([null, ['name', 'alias']]),
  filters: hand.one([null, { search: 'a', types: ['Application'] }]),
  odata_enabled: hand.chance(0.2),
});
const group = (hand: Hand) => ({
  name: hand.name('Group'),
  description: hand.one([null, 'About']),
  mode: hand.one(['single', 'multi', 'multi']),
  mandatory: hand.chance(0.3),
  restrict_to_types: hand.one([null, ['Application'], ['Application', 'ITComponent']]),
});
const tag = (hand: Hand) =>
  hand.one<object>([{ name: hand.name('Tag') }, { color: '#0000ff', sort_order: hand.below(9) }]);

/** The same with stars, views and the tags themselves. */
export const attachedActs: Acts = [
  ...onCardActs,
  [onRow('cards', ({ id }, hand) => [hand.one(['POST', 'POST', 'DELETE']), `/favorites/${id}`]), 3],
  [(hand) => hand.send('POST', '/bookmarks', view(hand)), 3],
  [patches('bookmarks', '/bookmarks', (hand) => someOf(hand, view(hand), 0.5)), 2],
  [deletes('bookmarks', '/bookmarks'), 1],
  [(hand) => hand.send('POST', '/tag-groups', group(hand)), 2],
  [patches('tag_groups', '/tag-groups', (hand) => someOf(hand, group(hand), 0.4)), 2],
  [deletes('tag_groups', '/tag-groups'), 1],
  [
    onRow('tag_groups', ({ id }, hand) => [
      'POST',
      `/tag-groups/${id}/tags`,
      { name: hand.name('Tag'), color: hand.one([null, '#00ff00']) },
    ]),
    4,
  ],
  [
    onRow('tags', ({ id, tag_group_id }, hand) => [
      'PATCH',
      `/tag-groups/${tag_group_id}/tags/${id}`,
      tag(hand),
    ]),
    2,
  ],
  [
    removing(onRow('tags', ({ id, tag_group_id }) => ['DELETE', `/tag-groups/${tag_group_id}/tags/${id}`])),
    1,
  ],
];
