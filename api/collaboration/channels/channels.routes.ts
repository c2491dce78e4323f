import Type from 'typebox';
import {
  ChannelCreateBody,
  ChannelPatchBody,
  channelList,
  createChannel,
  deleteChannel,
  patchChannel,
  readChannel,
  testChannel,
} from '../../../domain/collaboration/channels/channels.commands.ts';
import { Channel } from '../../../domain/collaboration/channels/channels.model.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { itemComponent, object } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const ChannelSchema = itemComponent('Channel', { ...Channel.shown.columns, owner_name: Type.String() });
const permissionNote = 'admin.settings for shared channels';

/** Channels of Slack and Microsoft Teams. */
export function registerChannelRoutes(app: App, services: Services): void {
  const routes = routesOf(app, { tag: 'Notifications', permission: 'notifications.manage' });

  routes.list('listChannels', '/api/v1/channels', channelList, {
    summary: 'List your channels of Slack and Microsoft Teams, and the shared ones',
    responses: page('Channels', ChannelSchema),
  });

  routes.post('createChannel', '/api/v1/channels', {
    summary: 'Add a channel of Slack or Microsoft Teams',
    description:
      'The address is that of an incoming webhook of Slack, or of a webhook of Workflows in Teams; other hosts need OUTBOUND_ALLOW and the permission admin.settings. It is stored encrypted and never returned. A person can have 20 channels, a workspace 1,000.',
    permissionNote,
    errors: ['limit_reached'],
    body: ChannelCreateBody,
    responses: created('The channel', ChannelSchema),
    handler: ({ ctx, body }) => createChannel(ctx, services, body),
  });

  routes.get('readChannel', '/api/v1/channels/:id', {
    summary: 'Read a channel',
    responses: ok('The channel', ChannelSchema),
    handler: ({ ctx, params }) => readChannel(ctx, params.id),
  });

  routes.patch('patchChannel', '/api/v1/channels/:id', {
    summary: 'Change, pause or resume a channel',
    permissionNote,
    body: ChannelPatchBody,
    responses: ok('The channel', ChannelSchema),
    handler: ({ ctx, params, body }) => patchChannel(ctx, services, params.id, body),
  });

  routes.delete('deleteChannel', '/api/v1/channels/:id', {
    summary: 'Delete a channel',
    description: 'Pending messages are not sent; schedules that deliver to it pause.',
    permissionNote,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteChannel(ctx, params.id),
  });

  routes.post('testChannel', '/api/v1/channels/:id/test', {
    summary: 'Send a test message to a channel',
    permissionNote,
    description: 'At most ten a minute from one person.',
    errors: ['wrong_state', 'too_many_requests'],
    responses: {
      202: { description: 'The message will be sent', schema: object({ accepted: Type.Literal(true) }) },
    },
    handler: async ({ ctx, params }) => {
      await testChannel(ctx, params.id);
      return { accepted: true } as const;
    },
  });
}
