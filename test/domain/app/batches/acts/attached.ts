import type { Act, Hand } from './hand.ts';

const card = (hand: Hand) => hand.row('cards');

const appoint: Act = async (hand) => {
  const on = await card(hand);
  const role = hand.one(['responsible', 'observer']);
  if (on) await hand.send('POST', `/cards/${on.id}/stakeholders`, { user_id: hand.one(hand.people), role });
};
const reappoint: Act = async (hand) => {
  const held = await hand.row('stakeholders');
  const role = hand.one(['responsible', 'observer']);
  if (held) await hand.send('PATCH', `/stakeholders/${held.id}`, { role });
};
const dismiss: Act = async (hand) => {
  const held = await hand.row('stakeholders');
  if (held) await hand.send('DELETE', `/stakeholders/${held.id}`);
};
const observe: Act = async (hand) => {
  const on = await card(hand);
  if (on) await hand.send(hand.one(['POST', 'DELETE']), `/cards/${on.id}/me/observe`);
};

const text = (hand: Hand) =>
  hand.one(['Said', 'Asked', `@[Somebody](user:${hand.one(hand.people)}) look`, '=1+1 <b>bold</b>']);
const comment: Act = async (hand) => {
  const on = await card(hand);
  if (on) await hand.send('POST', `/cards/${on.id}/comments`, { content: text(hand) });
};
const answer: Act = async (hand) => {
  const to = await hand.row('comments');
  if (to) await hand.send('POST', `/cards/${to.card_id}/comments`, { content: text(hand), parent_id: to.id });
};
const editComment: Act = async (hand) => {
  const said = await hand.row('comments');
  if (said) await hand.send('PATCH', `/comments/${said.id}`, { content: text(hand) });
};
const deleteComment: Act = async (hand) => {
  const said = await hand.row('comments');
  if (said) await hand.send('DELETE', `/comments/${said.id}`);
};

const addTodo: Act = async (hand) => {
  const on = await card(hand);
  if (!on) return;
  const repeats = hand.chance(0.5);
  await hand.send('POST', `/cards/${on.id}/todos`, {
    description: hand.name('Do'),
    assigned_to: hand.one([null, ...hand.people]),
    due_date: repeats ? '2026-01-31' : hand.one([null, '2026-03-01']),
    ...(repeats
      ? { recurrence_unit: hand.one(['days', 'months', 'years']), recurrence_interval: 1 + hand.below(3) }
      : {}),
  });
};
const patchTodo: Act = async (hand) => {
  const todo = await hand.row('todos');
  const values = hand.one<object>([
    { status: 'done' },
    { status: 'done' },
    { status: 'open' },
    { assigned_to: hand.one(hand.people) },
    { description: hand.name('Do'), due_date: '2027-02-28' },
  ]);
  if (todo) await hand.send('PATCH', `/todos/${todo.id}`, values);
};
const promoteTodo: Act = async (hand) => {
  const todo = await hand.row('todos');
  if (todo) await hand.send('POST', `/todos/${todo.id}/promote`);
};
const deleteTodo: Act = async (hand) => {
  const todo = await hand.row('todos');
  if (todo) await hand.send('DELETE', `/todos/${todo.id}`);
};

const link: Act = async (hand) => {
  const on = await card(hand);
  const url = `https://example.org/${hand.below(5)}`;
  if (on) await hand.send('POST', `/cards/${on.id}/documents`, { name: hand.name('Link'), url });
};
const unlink: Act = async (hand) => {
  const there = await hand.row('documents');
  if (there) await hand.send('DELETE', `/documents/${there.id}`);
};
const attach: Act = async (hand) => {
  const on = await card(hand);
  // the same content more than once as well
  if (on) {
    await hand.upload(
      `/cards/${on.id}/file-attachments`,
      `${hand.name('File')}.txt`,
      `text ${hand.below(4)}`,
    );
  }
};
const detach: Act = async (hand) => {
  const there = await hand.row('file_attachments');
  if (there) await hand.send('DELETE', `/file-attachments/${there.id}`);
};

const star: Act = async (hand) => {
  const on = await card(hand);
  if (on) await hand.send(hand.one(['POST', 'POST', 'DELETE']), `/favorites/${on.id}`);
};
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
const addView: Act = (hand) => hand.send('POST', '/bookmarks', view(hand));
const patchView: Act = async (hand) => {
  const there = await hand.row('bookmarks');
  const values = Object.fromEntries(Object.entries(view(hand)).filter(() => hand.chance(0.5)));
  if (there) await hand.send('PATCH', `/bookmarks/${there.id}`, values);
};
const deleteView: Act = async (hand) => {
  const there = await hand.row('bookmarks');
  if (there) await hand.send('DELETE', `/bookmarks/${there.id}`);
};

const group = (hand: Hand) => ({
  name: hand.name('Group'),
  description: hand.one([null, 'About']),
  mode: hand.one(['single', 'multi', 'multi']),
  mandatory: hand.chance(0.3),
  restrict_to_types: hand.one([null, ['Application'], ['Application', 'ITComponent']]),
});
const addGroup: Act = (hand) => hand.send('POST', '/tag-groups', group(hand));
const patchGroup: Act = async (hand) => {
  const there = await hand.row('tag_groups');
  const values = Object.fromEntries(Object.entries(group(hand)).filter(() => hand.chance(0.4)));
  if (there) await hand.send('PATCH', `/tag-groups/${there.id}`, values);
};
const deleteGroup: Act = async (hand) => {
  const there = await hand.row('tag_groups');
  if (there) await hand.send('DELETE', `/tag-groups/${there.id}`);
};
const addTag: Act = async (hand) => {
  const there = await hand.row('tag_groups');
  const color = hand.one([null, '#00ff00']);
  if (there) await hand.send('POST', `/tag-groups/${there.id}/tags`, { name: hand.name('Tag'), color });
};
const patchTag: Act = async (hand) => {
  const tag = await hand.row('tags');
  const values = hand.one<object>([
    { name: hand.name('Tag') },
    { color: '#0000ff', sort_order: hand.below(9) },
  ]);
  if (tag) await hand.send('PATCH', `/tag-groups/${tag.tag_group_id}/tags/${tag.id}`, values);
};
const deleteTag: Act = async (hand) => {
  const tag = await hand.row('tags');
  if (tag) await hand.send('DELETE', `/tag-groups/${tag.tag_group_id}/tags/${tag.id}`);
};
const putTags: Act = async (hand) => {
  const [on, tags] = [await card(hand), hand.some(await hand.rows('tags'), 2)];
  if (on && tags.length > 0)
    await hand.send(
      'POST',
      `/cards/${on.id}/tags`,
      tags.map(({ id }) => id),
    );
};
const takeTag: Act = async (hand) => {
  const put = await hand.row('card_tags');
  if (put) await hand.send('DELETE', `/cards/${put.card_id}/tags/${put.tag_id}`);
};

/** Writes to what goes with a card when it is deleted, with how often each is chosen. */
export const onCardActs: [Act, number][] = [
  [appoint, 5],
  [reappoint, 2],
  [dismiss, 2],
  [observe, 2],
  [comment, 4],
  [answer, 4],
  [editComment, 2],
  [deleteComment, 2],
  [addTodo, 4],
  [patchTodo, 4],
  [promoteTodo, 2],
  [deleteTodo, 1],
  [link, 3],
  [unlink, 2],
  [attach, 3],
  [detach, 2],
  [putTags, 5],
  [takeTag, 2],
];

/** The same with stars, views and the tags themselves. */
export const attachedActs: [Act, number][] = [
  ...onCardActs,
  [star, 3],
  [addView, 3],
  [patchView, 2],
  [deleteView, 1],
  [addGroup, 2],
  [patchGroup, 2],
  [deleteGroup, 1],
  [addTag, 4],
  [patchTag, 2],
  [deleteTag, 1],
];
