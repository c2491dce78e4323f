import Type from 'typebox';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, Timestamp, Uuid } from '../../kernel/shapes.ts';

const channelKinds = ['slack', 'teams'] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** An incoming webhook of Slack or Microsoft Teams. */
export class Channel extends rowModel('channels', {
  id: Uuid,
  owner_id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['Architecture'] }),
  kind: Choice(channelKinds, '`slack`: an incoming webhook. `teams`: a webhook of Workflows'),
  host: Type.String({ description: 'The host of the address, of which nothing else is shown' }),
  /** The encrypted address. */
  secret: Internal(Type.String()),
  is_shared: Type.Boolean({ description: 'Whether schedules of all users may go to it' }),
  notifies: Type.Boolean({
    description: 'Whether it gets the notifications that its owner gets by mail; not if it is shared',
  }),
  status: Choice(['active', 'paused']),
  paused_reason: Nullable(Type.String()),
  waits_until: Internal(Nullable(Timestamp)),
  last_sent_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type ChannelRow = RowOf<typeof Channel>;
