import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

/** A notification of the one who asks, or for those without an account of somebody else. */
async function ownNotification(w: World, role: Role) {
  const userId = role === 'anonymous' ? await w.user() : (await w.client(role)).userId;
  const [{ id }] = await w.t.services
    .db('notifications')
    .insert({
      user_id: userId,
      type: 'survey_request',
      title: 'T',
      message: 'M',
      event_position: nextPosition(),
    })
    .returning('id');
  return { path: { id } };
}

let position = 1_000_000_000;
const nextPosition = () => {
  position += 1;
  return position;
};

/** A channel of the one who asks, or of an administrator where the role may have none. */
async function ownChannel(w: World, role: Role) {
  const make = async (maker: Role) => await (await w.client(maker)).post('/api/v1/channels', channel);
  const own = role === 'anonymous' ? undefined : await make(role);
  const made = own?.status === 201 ? own : await make('admin');
  return { path: { id: made.body.id as string } };
}
const channel = { name: 'Mine', kind: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x' };

export const notificationRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('GET /notifications', '+ + + + - - 0'),
  row('GET /notifications/unread-count', '+ + + + - - 0'),
  row('GET /notifications/badge-counts', '+ + + + - - 0'),
  row('PATCH /notifications/{id}/read', '+ + + + - - 0', ownNotification),
  row('POST /notifications/mark-all-read', '+ + + + - - 0'),
  row('GET /users/me/notification-preferences', '+ + + + + + 0'),
  row('GET /channels', '+ + + + - - 0'),
  row('POST /channels', '+ + + + - - 0', () => ({ body: channel })),
  row('POST /channels (shared)', '+ - - - - - 0', () => ({ body: { ...channel, is_shared: true } })),
  row('GET /channels/{id}', '+ + + + - - 0', ownChannel),
  row('PATCH /channels/{id}', '+ + + + - - 0', ownChannel, { name: 'Renamed' }),
  row('DELETE /channels/{id}', '+ + + + - - 0', ownChannel),
  row('POST /channels/{id}/test', '+ + + + - - 0', ownChannel),
  row('PATCH /users/me/notification-preferences', '+ + + + + + 0', () => ({
    body: { email: { card_updated: true } },
  })),
];
