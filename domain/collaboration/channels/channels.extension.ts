import type { Extension } from '../../kernel/extensions.ts';
import { Channel } from './channels.model.ts';

/** Channels of Slack and Microsoft Teams. */
export const channelsExtension: Extension = {
  resources: [
    {
      model: Channel,
      name: 'channel',
      events: {
        created: ['channel.created'],
        updated: ['channel.updated', 'channel.paused', 'channel.tested'],
        deleted: ['channel.deleted'],
      },
      undo: { refused: 'Channels contain secrets, and messages cannot be recalled.' },
      transfer: { excluded: 'secret', reason: 'Channels contain secrets, and a copy would start to send.' },
    },
  ],
};
